import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../free-port.ts';
import { startGuarded } from './guarded-process.ts';

const program = ['/usr/sbin/clamd', '/usr/local/sbin/clamd'].find((path) => existsSync(path));

/** Why suites that need ClamAV cannot run; undefined when they can. */
export const missingClamdReason =
  program === undefined ? 'no clamd: on Debian, apt-get install clamav-daemon' : undefined;

/** Harmless bytes that only this clamd takes for malware. */
export const clamdTestSignature = Buffer.from('what only the scanner of this test knows\n');

const md5 = createHash('md5').update(clamdTestSignature).digest('hex');

/** MD5, length and name of all that this clamd knows; the first is the EICAR test file. */
const signatureDatabase = [
  '44d88612fea8a8f36de82e1278abb02f:68:Eicar-Test-Signature-MD5',
  `${md5}:${clamdTestSignature.length}:Test-Sample`,
  '',
].join('\n');

export interface TestClamd {
  url: string;
  stop(): Promise<void>;
}

/** A real clamd of the test's own, offline, with one signature. @param limit of a stream, as clamd writes it. */
export async function startClamd(limit = '25M', port?: number): Promise<TestClamd> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-clamd-'));
  const at = port ?? (await findFreePort());
  const signatures = join(folder, 'signatures');
  await mkdir(signatures);
  await writeFile(join(signatures, 'local.hdb'), signatureDatabase);
  const settings = {
    Foreground: 'yes',
    TCPSocket: at,
    TCPAddr: '127.0.0.1',
    DatabaseDirectory: signatures,
    StreamMaxLength: limit,
    SelfCheck: 0,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  await writeFile(join(folder, 'clamd.conf'), lines.join(''));
  const command = [program ?? 'clamd', '--config-file', join(folder, 'clamd.conf')];
  const { ended, stop } = startGuarded(command, { folder });
  await waitUntilAnswering(at, ended);
  return { url: `tcp://127.0.0.1:${at}`, stop };
}

/** Resolves when somebody listens there. */
async function waitUntilAnswering(port: number, gone: Promise<unknown>): Promise<void> {
  let over = false;
  void gone.then(() => (over = true));
  for (let tries = 0; tries < 400; tries += 1) {
    if (over) throw new Error('clamd has ended');
    if (await isListening(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('clamd does not listen');
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
