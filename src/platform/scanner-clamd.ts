import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { reasonOf } from './error-log.ts';
import { type ScannedFile, type Scanner, ScannerAway } from './scanner.ts';

/** How long nothing may happen on the connection, in milliseconds: clamd answers once it has judged. */
const patience = 60_000;

/**
 * ClamAV by its daemon (clamd, command INSTREAM).
 * @param url tcp://host:port, or unix:///path/of/the/socket.
 */
export function clamdScanner(url: string): Scanner {
  const address = addressOf(url);
  return {
    name: 'clamav',
    async scan(file) {
      const answer = await ask(connect(address), file);
      const [, finding] = /^stream: (.+) FOUND$/.exec(answer) ?? [];
      if (finding !== undefined) return { status: 'infected', finding };
      if (answer === 'stream: OK') return { status: 'clean' };
      throw new ScannerAway(`clamd answers ${answer.slice(0, 200)}`);
    },
  };
}

/** Whether clamd answers there. @throws {ScannerAway} when it does not. */
export async function pingClamd(url: string): Promise<void> {
  const socket = connect(addressOf(url));
  socket.setTimeout(3_000, () => socket.destroy(new Error('it does not answer')));
  socket.write('zPING\0');
  try {
    const answer = await answerOf(socket);
    if (answer !== 'PONG') throw new Error(`it answers ${answer.slice(0, 200)}`);
  } catch (error) {
    throw new ScannerAway(reasonOf(error), { cause: error });
  } finally {
    socket.destroy();
  }
}

function addressOf(url: string): { path: string } | { host: string; port: number } {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === 'unix:') return { path: decodeURIComponent(pathname) };
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 3310) };
}

/**
 * Sends the bytes, as fast as they are taken, and waits for the answer. Over its limit clamd answers before it has taken everything,
 * and takes no more: the answer counts all the same.
 */
async function ask(socket: Socket, file: ScannedFile): Promise<string> {
  socket.setTimeout(patience, () => socket.destroy(new Error('clamd does not answer')));
  const answer = answerOf(socket);
  // Who has the answer sends no more; whoever waits for room to send learns of it by that.
  const over = () => void socket.destroy();
  answer.then(over, over);
  let fault: unknown;
  async function* frames(): AsyncGenerator<Buffer> {
    yield Buffer.from('zINSTREAM\0');
    try {
      for await (const chunk of (await file.read()) as AsyncIterable<Buffer>) {
        yield lengthOf(chunk.byteLength);
        yield chunk;
      }
    } catch (error) {
      fault = error;
      throw error;
    }
    yield lengthOf(0);
  }
  try {
    await pipeline(frames, socket, { end: false });
    return await answer;
  } catch (error) {
    if (fault !== undefined) throw fault;
    const given = await answer.catch(() => '');
    if (given !== '') return given;
    throw new ScannerAway('clamd is away', { cause: error });
  } finally {
    socket.destroy();
  }
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}

/** What clamd says up to its NUL, or to the end of the connection. */
function answerOf(socket: Socket): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\0')) resolve(text.slice(0, text.indexOf('\0')).trim());
    });
    socket.on('error', reject);
    socket.on('close', () => (text === '' ? reject(new Error('clamd hung up')) : resolve(text.trim())));
  });
}
