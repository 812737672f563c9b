// The messages of a language server over the streams of a child process: frames with a
// Content-Length, and requests that wait for their answers. It knows nothing of VS Code.
'use strict';

// Limit on the bytes of one message.
const MAX_MESSAGE_BYTES = 64 << 20;

class Connection {
  // `on.notification(method, params)` and `on.request(method, params)` hear what the server sends.
  // `on.end(reason)` is called once, when nothing more can come.
  constructor(input, output, on) {
    this.output = output;
    this.on = on;
    this.buffer = Buffer.alloc(0);
    this.waiting = new Map();
    this.lastId = 0;
    this.ended = false;
    input.on('data', (bytes) => this.receive(bytes));
    input.on('end', () => this.end('the server ended'));
    output.on('error', (error) => this.end(error.message));
  }

  send(message) {
    if (this.ended) return;
    const text = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }), 'utf8');
    this.output.write(`Content-Length: ${text.length}\r\n\r\n`);
    this.output.write(text);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  // Returns a promise of the result. `token` (may be missing) is a CancellationToken of VS Code.
  request(method, params, token) {
    if (this.ended) return Promise.reject(new Error('the server is not running'));
    const id = ++this.lastId;
    this.send({ id, method, params });
    if (token) token.onCancellationRequested(() => this.notify('$/cancelRequest', { id }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  receive(bytes) {
    this.buffer = Buffer.concat([this.buffer, bytes]);
    while (!this.ended) {
      const end = this.buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      const header = /^Content-Length: *(\d+)\r?$/im.exec(this.buffer.toString('latin1', 0, end));
      const length = header ? Number(header[1]) : -1;
      if (length < 0 || length > MAX_MESSAGE_BYTES) return this.end('a wrong message of the server');
      const begin = end + 4;
      if (this.buffer.length < begin + length) return;
      const text = this.buffer.toString('utf8', begin, begin + length);
      this.buffer = this.buffer.subarray(begin + length);
      let message;
      try {
        message = JSON.parse(text);
      } catch (error) {
        return this.end(error.message);
      }
      this.handle(message);
    }
  }

  handle(message) {
    if (message.method !== undefined && message.id !== undefined) {
      this.on.request(message.method, message.params);
      this.send({ id: message.id, result: null });
    } else if (message.method !== undefined) {
      this.on.notification(message.method, message.params);
    } else {
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (!waiting) return;
      if (message.error) waiting.reject(new Error(message.error.message));
      else waiting.resolve(message.result);
    }
  }

  end(reason) {
    if (this.ended) return;
    this.ended = true;
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    this.on.end(reason);
  }
}

module.exports = { Connection };
