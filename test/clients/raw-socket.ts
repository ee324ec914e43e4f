import { connect, type Socket } from 'node:net';

export interface RawFrame {
  fin?: boolean;
  /** The three reserved bits, as a number. */
  rsv?: number;
  opcode: number;
  payload?: Buffer | string;
  masked?: boolean;
  /** What the header says of the length, whatever the payload has. */
  length?: number | bigint | undefined;
}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A frame of RFC 6455, section 5.2, as it stands on the wire, well-formed or not. */
export function encodeFrame(frame: RawFrame): Buffer {
  const { fin = true, rsv = 0, opcode, masked = true } = frame;
  const payload = Buffer.from(frame.payload ?? '');
  const length = BigInt(frame.length ?? payload.length);
  const mask = Buffer.from([1, 2, 3, 4]);
  const bytes = masked ? payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)) : payload;
  return Buffer.concat([
    Buffer.from([(fin ? 0x80 : 0) | (rsv << 4) | opcode]),
    lengthBytes(length, masked ? 0x80 : 0),
    masked ? mask : Buffer.alloc(0),
    bytes,
  ]);
}

function lengthBytes(length: bigint, flag: number): Buffer {
  if (length < 126n) return Buffer.from([flag | Number(length)]);
  if (length < 65_536n) {
    const short = Buffer.from([flag | 126, 0, 0]);
    short.writeUInt16BE(Number(length), 1);
    return short;
  }
  const long = Buffer.from([flag | 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  long.writeBigUInt64BE(BigInt.asUintN(64, length), 1);
  return long;
}

export function encodeCloseFrame(code: number, reason: Buffer | string = ''): Buffer {
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]);
  return encodeFrame({ opcode: opcodes.close, payload });
}

/** The head of a handshake that is right in every way, as lines. */
export function handshakeLines(token: string): string[] {
  return [
    'GET /ws HTTP/1.1',
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    `Authorization: Bearer ${token}`,
  ];
}

export const buildRequestHead = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

/** What the service answered: a head, then frames, or a body. */
export interface RawResponse {
  head: string;
  body: Buffer;
  frames: { opcode: number; payload: Buffer }[];
  /** The code of its close frame: 1005 for one without, undefined when it sent none. */
  code: number | undefined;
}

export interface RawConnection {
  socket: Socket;
  /** The frames received so far. @throws {Error} when it is no series of well-formed frames */
  answered(): RawResponse;
  /** Resolves when `fits` is true of what came, or the connection is over; rejects when neither happens in time. */
  waitFor(fits: (answered: RawResponse) => boolean): Promise<RawResponse>;
  /** Resolves when the connection is over, however it ended. */
  waitForEnd: Promise<RawResponse>;
}

/** How long anything may take before a test gives up, in milliseconds. */
const timeoutMs = 60_000;

/** A TCP connection that keeps everything which comes, and bears everything. */
export function openRawConnection(address: string): RawConnection {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // Resets are part of the matter; `close` follows.
  socket.on('error', () => undefined);
  const answered = () => parseResponse(Buffer.concat(chunks));

  function waitFor(fits: (answer: RawResponse) => boolean): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`the service did not answer: ${Buffer.concat(chunks).toString('latin1')}`));
      }, timeoutMs);
      const look = () => {
        const answer = answered();
        if (!fits(answer) && !socket.closed) return;
        stop();
        resolve(answer);
      };
      function stop(): void {
        clearTimeout(timer);
        socket.off('data', look).off('close', look);
      }
      socket.on('data', look).on('close', look);
      look();
    });
  }
  return { socket, answered, waitFor, waitForEnd: waitFor(() => false) };
}

/** Bytes that the service sent. @throws {Error} when the frames among them are malformed */
export function parseResponse(bytes: Buffer): RawResponse {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, Math.max(0, end)).toString('latin1');
  const body = end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 4);
  const frames = head.startsWith('HTTP/1.1 101 ') ? parseFrames(body) : [];
  const close = frames.find(({ opcode }) => opcode === opcodes.close);
  const code = close && (close.payload.length < 2 ? 1005 : close.payload.readUInt16BE(0));
  return { head, body, frames, code };
}

/** The frames that are whole. */
function parseFrames(bytes: Buffer): RawResponse['frames'] {
  const frames: RawResponse['frames'] = [];
  for (let at = 0; at + 2 <= bytes.length;) {
    const first = bytes.readUInt8(at);
    const second = bytes.readUInt8(at + 1);
    if ((first & 0xf0) !== 0x80 || second > 127) throw new Error('the service sent a malformed frame');
    const size = second === 127 ? 8 : second === 126 ? 2 : 0;
    if (at + 2 + size > bytes.length) break;
    const length =
      size === 8 ? Number(bytes.readBigUInt64BE(at + 2)) : size === 2 ? bytes.readUInt16BE(at + 2) : second;
    const begin = at + 2 + size;
    if (begin + length > bytes.length) break;
    frames.push({ opcode: first & 15, payload: bytes.subarray(begin, begin + length) });
    at = begin + length;
  }
  return frames;
}
