import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export interface LightSocket {
  /** Sends one text frame. */
  send(text: string): void;
  /** Whether the socket is open. */
  open(): boolean;
  /** Destroys the connection. */
  close(): void;
}

export interface LightSocketOptions {
  /** http://host:port */
  base: string;
  /** Path and query. */
  path: string;
  /** Default: no `Authorization` header. */
  token?: string;
  /** The subprotocol to ask for. */
  protocol?: string;
  /** Whether to wait for a frame of the type `ready`, from which on the server delivers events. */
  awaitReady?: boolean;
  /** Called for each text frame; the buffer is valid only during the call. */
  onFrame(frame: Buffer): void;
  /** Called once when the server closes the connection. */
  onLost(reason: Error): void;
}

const readyPrefix = '{"type":"ready"';
const headerEnd = '\r\n\r\n';
const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

/**
 * Opens a minimal WebSocket. The generator shares the processors with the service, and a complete client would use more CPU time
 * than the service. It reads unfragmented, unmasked frames, as servers send them, and answers pings.
 */
export function openLightSocket(options: LightSocketOptions): Promise<LightSocket> {
  const { hostname, port } = new URL(options.base);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let rest: Buffer | undefined;
  let upgraded = false;
  let over = false;

  return new Promise((resolve, reject) => {
    function fail(reason: string): void {
      if (over) return;
      over = true;
      socket.destroy();
      const error = new Error(reason);
      if (upgraded) options.onLost(error);
      reject(error);
    }
    function onData(chunk: Buffer): void {
      let data = rest ? Buffer.concat([rest, chunk]) : chunk;
      rest = undefined;
      if (!upgraded) {
        const end = data.indexOf(headerEnd);
        if (end < 0) {
          rest = data;
          return;
        }
        const head = data.toString('latin1', 0, end);
        if (!head.startsWith('HTTP/1.1 101')) {
          fail(`the handshake was rejected: ${data.toString('utf8').slice(0, 300)}`);
          return;
        }
        upgraded = true;
        data = data.subarray(end + headerEnd.length);
        if (!options.awaitReady) resolve(light);
      }
      const whole = readFrames(data, (opcode, payload) => {
        if (opcode === opcodes.text) onText(payload);
        else if (opcode === opcodes.ping) socket.write(maskFrame(opcodes.pong, payload));
        else if (opcode === opcodes.close)
          fail(`the server closed a socket (${payload.toString('utf8', 2)})`);
      });
      if (whole < data.length) rest = data.subarray(whole);
    }
    function onText(frame: Buffer): void {
      if (options.awaitReady && frame.indexOf(readyPrefix) === 0) resolve(light);
      else options.onFrame(frame);
    }
    const light: LightSocket = {
      send: (text) => void socket.write(maskFrame(opcodes.text, Buffer.from(text))),
      open: () => upgraded && !over,
      close() {
        over = true;
        socket.destroy();
      },
    };
    socket.on('data', onData);
    socket.on('error', (error) => fail(`a socket failed: ${error.message}`));
    socket.on('close', () => fail('a socket was closed'));
    socket.on('connect', () => writeHandshake(socket, options));
  });
}

function writeHandshake(socket: Socket, { base, path, token, protocol }: LightSocketOptions): void {
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${new URL(base).host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  socket.write(`${lines.join('\r\n')}${headerEnd}`);
}

/** Calls `onFrame` for every complete frame (RFC 6455, section 5.2); returns the number of bytes read. */
function readFrames(data: Buffer, onFrame: (opcode: number, payload: Buffer) => void): number {
  let at = 0;
  while (data.length - at >= 2) {
    const short = data.readUInt8(at + 1) & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (data.length - at < head) break;
    const size =
      short < 126 ? short : short === 126 ? data.readUInt16BE(at + 2) : Number(data.readBigUInt64BE(at + 2));
    if (data.length - at < head + size) break;
    onFrame(data.readUInt8(at) & 0x0f, data.subarray(at + head, at + head + size));
    at += head + size;
  }
  return at;
}

/** A client frame with a mask of zeros: no intermediary needs the protection of a random mask here. */
function maskFrame(opcode: number, payload: Buffer): Buffer {
  const short = payload.length < 126;
  const head = Buffer.alloc(short ? 6 : 8);
  head.writeUInt8(0x80 | opcode, 0);
  head.writeUInt8(0x80 | (short ? payload.length : 126), 1);
  if (!short) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
