-- Neovim's own client against `groma lsp`:
--   GROMA=path/to/groma nvim --headless --clean -c "luafile neovim.lua"
-- Prints what failed and ends with exit code 1, or ends with 0.
local folder = vim.fn.tempname()
vim.fn.mkdir(folder, 'p')
vim.fn.writefile({ 'machine = "p100x4:nodes=2"', 'app = "circuit:nodes=2"' }, folder .. '/groma.toml')
vim.fn.writefile({ 'Task * GPUS, CPU;', 'm = Machine(GPU);', 'def f(Task task) {', '  return m[0,0];', '}',
  'IndexTaskMap calculate_new_currents f;', 'IndexTaskMap calculate_new_currents f;' }, folder .. '/a.mapper')

local exit_code
local function check(condition, what)
  if condition then return end
  io.stderr:write('failed: ' .. what .. '\n')
  vim.cmd('cquit 1')
end
local function wait(what, condition)
  check(vim.wait(60000, condition, 10), 'waiting for ' .. what)
end

vim.cmd('edit ' .. folder .. '/a.mapper')
local buffer = vim.api.nvim_get_current_buf()
vim.bo.filetype = 'groma'
local client_id = vim.lsp.start_client({
  name = 'groma',
  cmd = { os.getenv('GROMA'), 'lsp' },
  root_dir = folder,
  on_exit = function(code) exit_code = code end,
})
check(client_id, 'the server starts')
vim.lsp.buf_attach_client(buffer, client_id)
wait('the server', function() return vim.lsp.buf_get_clients(buffer)[client_id] ~= nil end)

-- Diagnostics, and the fix.
wait('a diagnostic', function() return #vim.diagnostic.get(buffer, { lnum = 0 }) > 0 end)
local first = vim.diagnostic.get(buffer, { lnum = 0 })[1]
check(first.code == 'unknown-processor' and first.col == 7 and first.end_col == 11, vim.inspect(first))
vim.api.nvim_buf_set_text(buffer, 0, 10, 0, 11, { '' })
wait('no error', function()
  return #vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR }) == 0
end)

local function ask(method, line, character, more)
  local params = vim.tbl_extend('force', {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = line, character = character },
  }, more or {})
  local answers, problem = vim.lsp.buf_request_sync(buffer, method, params, 60000)
  check(answers and answers[client_id], method .. ': ' .. vim.inspect(problem))
  check(not answers[client_id].error, method .. ': ' .. vim.inspect(answers[client_id].error))
  return answers[client_id].result
end

-- What Neovim makes of hover, completion, definition, rename and formatting.
local lines = vim.lsp.util.convert_input_to_markdown_lines(ask('textDocument/hover', 5, 3).contents)
check(table.concat(lines, '\n'):find('Decides', 1, true), vim.inspect(lines))
local items = vim.lsp.util.text_document_completion_list_to_complete_items(
  ask('textDocument/completion', 5, 17), 'calc')
check(#items >= 1 and items[1].word == 'calculate_new_currents', vim.inspect(items))
vim.api.nvim_win_set_cursor(0, { 6, 36 })
vim.lsp.buf.definition()
wait('the jump', function() return vim.api.nvim_win_get_cursor(0)[1] == 3 end)
vim.lsp.buf.rename('by_zero')
wait('the new name', function()
  return vim.api.nvim_buf_get_lines(buffer, 2, 3, true)[1] == 'def by_zero(Task task) {'
end)
check(vim.api.nvim_buf_get_lines(buffer, 5, 6, true)[1] == 'IndexTaskMap calculate_new_currents by_zero;', 'rename')
vim.lsp.buf.formatting_sync({}, 60000)
check(vim.api.nvim_buf_get_lines(buffer, 3, 4, true)[1] == '  return m[0, 0];', 'formatting')
local symbols = ask('textDocument/documentSymbol', 0, 0)
check(#symbols == 5, vim.inspect(symbols))

vim.lsp.stop_client(client_id)
wait('the end', function() return exit_code ~= nil end)
check(exit_code == 0, 'exit code ' .. tostring(exit_code))
vim.fn.delete(folder, 'rf')
vim.cmd('qall!')
