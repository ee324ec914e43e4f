import { connect } from 'node:net';

/** Whether a server on this loopback port accepts the password and responds within a second. */
export function isRedisReady(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 });
    let response = '';
    const finish = (isReady: boolean) => {
      socket.destroy();
      resolve(isReady);
    };
    socket.setEncoding('utf8');
    socket.once('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    socket.on('data', (text: string) => {
      response += text;
      if (response.includes('+PONG')) finish(true);
      else if (response.includes('\r\n-') || response.startsWith('-')) finish(false);
    });
    socket.once('error', () => finish(false)); // not listening yet
    socket.once('timeout', () => finish(false));
    socket.once('close', () => finish(false));
  });
}
