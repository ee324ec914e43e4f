import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { describeError } from '../../shared/error-log.ts';
import { type ScannedFile, type Scanner, ScannerUnavailable } from './scanner.ts';

/** Without any traffic on the connection, and in total, in milliseconds. */
const defaultTimeouts = { idleMs: 60_000, totalMs: 300_000 };

/** In characters. A longer response does not come from clamd. */
const maxResponseLength = 4_096;

/**
 * A scanner that uses the ClamAV daemon (clamd, command INSTREAM).
 * @param url tcp://host:port, or unix:///path/of/the/socket.
 */
export function createClamdScanner(url: string, timeouts = defaultTimeouts): Scanner {
  const address = parseAddress(url);
  return {
    name: 'clamav',
    async scan(file) {
      const { response, isComplete } = await scanStream(connect(address), file, timeouts);
      const [, finding] = /^stream: (.+) FOUND$/.exec(response) ?? [];
      if (finding !== undefined) return { status: 'infected', finding };
      if (response === 'stream: OK' && isComplete) return { status: 'clean' };
      const when = isComplete ? '' : ' before it received the whole file';
      throw new ScannerUnavailable(`clamd responded ${response.slice(0, 200)}${when}`);
    },
  };
}

/** Checks that clamd responds. @throws {ScannerUnavailable} when it does not. */
export async function pingClamd(url: string): Promise<void> {
  const socket = connect(parseAddress(url));
  socket.setTimeout(3_000, () => socket.destroy(new Error('no response in 3 s')));
  socket.write('zPING\0');
  try {
    const response = await readResponse(socket);
    if (response !== 'PONG') throw new Error(`unexpected response: ${response.slice(0, 200)}`);
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
 * Sends a file and waits for the response, with backpressure. When a file is over its limit, clamd responds early and reads no further:
 * `isComplete` is false then.
 */
async function scanStream(
  socket: Socket,
  file: ScannedFile,
  timeouts: typeof defaultTimeouts,
): Promise<{ response: string; isComplete: boolean }> {
  const abort = (reason: string) => socket.destroy(new Error(reason));
  socket.setTimeout(timeouts.idleMs, () => abort('clamd does not respond'));
  const totalTimer = setTimeout(() => abort('the scan by clamd timed out'), timeouts.totalMs);
  const pending = readResponse(socket);
  // After the response nothing is sent any more. This also ends a pipeline that waits for the socket to drain.
  const close = () => void socket.destroy();
  pending.then(close, close);
  let readError: unknown;
  async function* frames(): AsyncGenerator<Buffer> {
    yield Buffer.from('zINSTREAM\0');
    try {
      for await (const chunk of (await file.read()) as AsyncIterable<Buffer>) {
        yield encodeLength(chunk.byteLength);
        yield chunk;
      }
    } catch (error) {
      readError = error;
      throw error;
    }
    yield encodeLength(0);
  }
  try {
    await pipeline(frames, socket, { end: false });
    return { response: await pending, isComplete: true };
  } catch (error) {
    if (readError !== undefined) throw readError;
    const response = await pending.catch(() => '');
    if (response !== '') return { response, isComplete: false };
    throw new ScannerUnavailable('clamd is unavailable', { cause: error });
  } finally {
    clearTimeout(totalTimer);
    socket.destroy();
  }
}

function encodeLength(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}

/** The response of clamd, which ends with NUL. Rejects when the connection ends before it. */
function readResponse(socket: Socket): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\0')) resolve(text.slice(0, text.indexOf('\0')).trim());
      else if (text.length > maxResponseLength) socket.destroy(new Error('the response is too long'));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('clamd closed the connection')));
  });
}
