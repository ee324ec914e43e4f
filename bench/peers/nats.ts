import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { AckPolicy, type Consumer, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { findProgram } from '../../src/embedded/find-program.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { readProcessCpuTime } from '../load/cpu-time.ts';
import { buildNumberedContent, readNumber } from '../load/tally.ts';
import { waitForStableMemory } from '../start/resident-memory.ts';
import { startRestartable } from '../start/restartable.ts';
import { createFolder } from '../start/service.ts';
import type { ClientParts, Connect, PeerKind } from './peer.ts';

const stream = 'messages';
const group = `${stream}.group`;
const subjectOf = (agent: number) => `${stream}.${agent}`;
const credentials = { user: 'bench', pass: 'bench' };
const marker = Buffer.from('#');
/** The consumer of a client that was killed is removed after this time. */
const inactive_threshold = 300e9;

/**
 * JetStream with a file store and its default settings, which confirm a message once it is written, and sync it within two minutes
 * (`sync_interval`; https://docs.nats.io/running-a-nats-service/configuration#jetstream). Each receiver has a consumer and acknowledges
 * each message.
 */
export const nats: PeerKind = {
  name: 'NATS JetStream',
  findMissing: () => (findProgram(['nats-server']) ? null : 'apt-get install nats-server'),
  async start(bench) {
    const folder = await createFolder(bench);
    const address = `127.0.0.1:${await findFreePort()}`;
    const program = findProgram(['nats-server']) ?? '';
    const settings = [
      '--jetstream',
      '--store_dir',
      folder,
      '--user',
      credentials.user,
      '--pass',
      credentials.pass,
    ];
    const [host = '', port = ''] = address.split(':');
    const launch = () =>
      spawn(program, ['--addr', host, '--port', port, ...settings], { detached: true, stdio: 'ignore' });
    const manage = async <T>(run: (connection: NatsConnection) => Promise<T>) => {
      const connection = await connect({ servers: address, reconnect: false, ...credentials });
      try {
        return await run(connection);
      } finally {
        await connection.close();
      }
    };
    const add = async (connection: NatsConnection) =>
      (await jetstreamManager(connection)).streams.add({ name: stream, subjects: [`${stream}.>`] });
    const server = await startRestartable(bench, 'nats-server', launch, () => manage(add));
    return [
      {
        name: nats.name,
        address,
        connect: nats.openClient(address, bench),
        waitUntilIdle: () => Promise.resolve(),
        countStored: () =>
          manage(
            async (connection) =>
              (await (await jetstreamManager(connection)).streams.info(stream)).state.messages,
          ),
        readCpuMs: () => readProcessCpuTime(server.pid),
        readMemory: () => waitForStableMemory(server.pid, bench.signal, () => undefined),
        crash: {
          kill9: server.kill9,
          restart: server.restart,
          readAll: (receiver) => manage((connection) => readAll(connection, subjectOf(receiver))),
        },
      },
    ];
  },
  openClient: openNatsClient,
};

function openNatsClient(servers: string, { fail }: ClientParts): Connect {
  return async (agent, role, onMessage) => {
    const connection = await connect({ servers, reconnect: false, ...credentials });
    let isOpen = true;
    const watch = async () => {
      const error = await connection.closed();
      if (isOpen) fail(error ?? new Error('NATS closed a connection'));
    };
    void watch();
    const client = jetstream(connection, { timeout: 15_000 });
    let consumer: Consumer | undefined;
    if (role !== 'sender') {
      const name = `${role}-${agent}-${randomUUID()}`;
      const filter_subject = role === 'member' ? group : subjectOf(agent);
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const policies = { ack_policy: AckPolicy.Explicit, deliver_policy: DeliverPolicy.New };
      await manager.consumers.add(stream, { name, filter_subject, inactive_threshold, ...policies });
      consumer = await client.consumers.get(stream, name);
      await consumer.consume({
        callback(message) {
          const number = readNumber(Buffer.from(message.data), marker);
          if (number !== null) onMessage(number);
          message.ack();
        },
      });
    }
    const to = role === 'member' ? group : subjectOf(agent + 1);
    return {
      async send(number) {
        await client.publish(to, buildNumberedContent(number), { msgID: String(number) });
      },
      close() {
        isOpen = false;
        // A consumer without its client would still cost the server something in the next measures. A server that was killed has none.
        const left = consumer?.delete() ?? Promise.resolve();
        void left.catch(() => undefined).then(() => connection.close());
      },
    };
  };
}

/** Numbers of the messages with a subject, as a new reader gets them. */
async function readAll(connection: NatsConnection, subject: string): Promise<number[]> {
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info(stream, { subjects_filter: subject });
  const count = state.subjects?.[subject] ?? 0;
  const numbers: number[] = [];
  if (count === 0) return numbers;
  const consumer = await jetstream(connection).consumers.get(stream, { filter_subjects: subject });
  for await (const message of await consumer.consume()) {
    numbers.push(readNumber(Buffer.from(message.data), marker) ?? Number.NaN);
    if (numbers.length === count) break;
  }
  return numbers;
}
