import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findFreePort } from '../../free-port.ts';
import { describeUnless } from '../../vitest/describe-unless.ts';
import { findRedisBinary } from './binary.ts';
import { startGuarded } from '../guarded-process.ts';
import { testCertificate as certificate } from '../tls-certificate.ts';

export interface TestRedis {
  url: string;
  port: number;
  /** Where it speaks TLS as well; 0 unless that was asked for. */
  tls_port: number;
  /** Ends the server without warning. */
  kill9(): Promise<void>;
  /** Stops it in the middle of what it does: connections stay and nothing is answered, until `kill9`. */
  freeze(): void;
  /** Starts it again on the same port, after `kill9`; what it had saved is there again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestRedisOptions {
  /** Switches the append-only file on, written to disk every second. */
  persist?: boolean;
  /** More settings of redis.conf. */
  settings?: Readonly<Record<string, string>>;
  /** Has it speak TLS on a port of its own too, with the certificate of tls.ts. */
  tls?: boolean;
  /** The lines by which a sentinel knows what it watches; without them it is a server. */
  sentinel?: readonly string[];
}

/**
 * Starts a real Redis of its own on a free loopback port, with `noeviction` and a throw-away folder. It ends with the test process,
 * however that ends.
 */
export async function startTestRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const { persist = false, settings: own = {}, tls = false, sentinel } = options;
  const binary = await findRedisBinary();
  if ('missing' in binary) throw new Error(binary.missing);
  const { path, env } = binary;
  const folder = await mkdtemp(join(tmpdir(), 'ams-redis-'));
  const port = await findFreePort();
  const tls_port = tls ? await findFreePort() : 0;
  const everywhere = { port: String(port), bind: '127.0.0.1', dir: folder, logfile: 'redis.log' };
  const ofServer = {
    save: '',
    'maxmemory-policy': 'noeviction',
    appendonly: persist ? 'yes' : 'no',
    appendfsync: 'everysec',
  };
  const secured = tls ? await withCertificate(folder, tls_port) : {};
  const settings = { ...everywhere, ...(!sentinel && ofServer), ...secured, ...own };
  const switches = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const command = [path, ...switches];
  if (sentinel) {
    const file = join(folder, 'sentinel.conf');
    await writeFile(file, sentinel.join('\n'));
    command.splice(1, 0, file);
    command.push('--sentinel');
  }

  async function launch() {
    const server = startGuarded(command, { env, folder });
    await waitUntilAnswering(port);
    return server;
  }

  let running = await launch();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    tls_port,
    kill9: () => running.end(),
    freeze: () => void running.child.kill('SIGSTOP'),
    async restart() {
      running = await launch();
    },
    stop: () => running.stop(),
  };
}

/** Settings of a server that does not ask its callers for a certificate; it shows its own where it calls others. */
async function withCertificate(folder: string, tls_port: number): Promise<Record<string, string>> {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await Promise.all([writeFile(cert, certificate.cert), writeFile(key, certificate.key)]);
  return {
    'tls-port': String(tls_port),
    'tls-cert-file': cert,
    'tls-key-file': key,
    'tls-ca-cert-file': cert,
    'tls-auth-clients': 'no',
  };
}

/** A suite that needs a real Redis. */
export async function describeWithRedis(name: string, body: () => void): Promise<void> {
  const binary = await findRedisBinary();
  describeUnless('missing' in binary ? binary.missing : undefined, name, body);
}

async function waitUntilAnswering(port: number): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!/^(?:\+PONG|-NOAUTH)/.test((await pingOnce(port)) ?? '')) {
    if (Date.now() > deadline) throw new Error(`redis-server does not answer on port ${port}`);
    await pause(20);
  }
}

/** The first line of the answer to PING; undefined when no server listens. */
async function pingOnce(port: number): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    socket.write('PING\r\n');
    const [data]: unknown[] = await once(socket, 'data');
    return String(data).trim();
  } catch {
    // Refused or reset: there is no server, which is an answer here.
    return undefined;
  } finally {
    socket.destroy();
  }
}
