autocmd BufRead,BufNewFile *.mapper setfiletype groma
