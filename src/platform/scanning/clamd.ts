import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { describeError } from '../../shared/error-log.ts';
import { type ScannedFile, type Scanner, ScannerUnavailable } from './scanner.ts';

/** How long nothing may happen on the connection, and how long it may take altogether, in milliseconds. */
const defaultTimeouts = { idleMs: 60_000, totalMs: 300_000 };

/** What clamd says is short, in characters; longer is somebody else. */
const maxResponseLength = 4_096;

/**
 * ClamAV by its daemon (clamd, command INSTREAM).
 * @param url tcp://host:port, or unix:///path/of/the/socket.
 * @param patience in milliseconds.
 */
export function createClamdScanner(url: string, patience = defaultTimeouts): Scanner {
  const address = parseAddress(url);
  return {
    name: 'clamav',
    async scan(file) {
      const { answer, whole } = await scanStream(connect(address), file, patience);
      const [, finding] = /^stream: (.+) FOUND$/.exec(answer) ?? [];
      if (finding !== undefined) return { status: 'infected', finding };
      if (answer === 'stream: OK' && whole) return { status: 'clean' };
      throw new ScannerUnavailable(`clamd answers ${answer.slice(0, 200)}${whole ? '' : ', before the end'}`);
    },
  };
}

/** Whether clamd answers there. @throws {ScannerUnavailable} when it does not. */
export async function pingClamd(url: string): Promise<void> {
  const socket = connect(parseAddress(url));
  socket.setTimeout(3_000, () => socket.destroy(new Error('it does not answer')));
  socket.write('zPING\0');
  try {
    const answer = await readResponse(socket);
    if (answer !== 'PONG') throw new Error(`it answers ${answer.slice(0, 200)}`);
  } catch (error) {
    throw new ScannerUnavailable(describeError(error), { cause: error });
  } finally {
    socket.destroy();
  }
}

function parseAddress(url: string): { path: string } | { host: string; port: number } {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === 'unix:') return { path: decodeURIComponent(pathname) };
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 3310) };
}

/**
 * Sends the bytes, as fast as they are taken, and waits for the answer. Over its limit clamd answers before it has taken everything,
 * and takes no more: so the answer comes with whether it is about the whole.
 */
async function scanStream(
  socket: Socket,
  file: ScannedFile,
  patience: typeof defaultTimeouts,
): Promise<{ answer: string; whole: boolean }> {
  const give = (up: string) => socket.destroy(new Error(up));
  socket.setTimeout(patience.idleMs, () => give('clamd does not answer'));
  const late = setTimeout(() => give('clamd takes too long'), patience.totalMs);
  const answer = readResponse(socket);
  // Who has the answer sends no more; whoever waits for room to send learns of it by that.
  const over = () => void socket.destroy();
  answer.then(over, over);
  let fault: unknown;
  async function* frames(): AsyncGenerator<Buffer> {
    yield Buffer.from('zINSTREAM\0');
    try {
      for await (const chunk of (await file.read()) as AsyncIterable<Buffer>) {
        yield encodeLength(chunk.byteLength);
        yield chunk;
      }
    } catch (error) {
      fault = error;
      throw error;
    }
    yield encodeLength(0);
  }
  try {
    await pipeline(frames, socket, { end: false });
    return { answer: await answer, whole: true };
  } catch (error) {
    if (fault !== undefined) throw fault;
    const given = await answer.catch(() => '');
    if (given !== '') return { answer: given, whole: false };
    throw new ScannerUnavailable('clamd is away', { cause: error });
  } finally {
    clearTimeout(late);
    socket.destroy();
  }
}

function encodeLength(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}

/** What clamd says up to its NUL; half an answer is none. */
function readResponse(socket: Socket): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\0')) resolve(text.slice(0, text.indexOf('\0')).trim());
      else if (text.length > maxResponseLength) socket.destroy(new Error('it says too much'));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('clamd hung up')));
  });
}
