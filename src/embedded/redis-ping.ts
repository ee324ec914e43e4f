import { connect } from 'node:net';

/** Whether a server on this loopback port accepts the password and responds within a second. */
export function isRedisReady(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 });
    let answer = '';
    const say = (yes: boolean) => {
      socket.destroy();
      resolve(yes);
    };
    socket.setEncoding('utf8');
    socket.once('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    socket.on('data', (text: string) => {
      answer += text;
      if (answer.includes('+PONG')) say(true);
      else if (answer.includes('\r\n-') || answer.startsWith('-')) say(false);
    });
    socket.once('error', () => say(false)); // nobody listens yet
    socket.once('timeout', () => say(false));
    socket.once('close', () => say(false));
  });
}
