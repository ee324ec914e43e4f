import { connectSingleChannel } from './single-channel.ts';
import { connectShardedChannels } from './sharded-channels.ts';
import { packPayloads, packMessage, unpackMessages } from './payloads.ts';
import { createTopicTable } from './topics.ts';
import type { Bus } from './bus.ts';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { parseRedisAddress } from '../redis/address.ts';

export interface RedisBusOptions {
  url: string;
  /** Prefix of the channel name, so that instances or test suites can share one Redis. */
  prefix: string;
  log: ErrorLog;
}

/** Each payload costs the sender, Redis and every process a system call. */
const maxPayloadBytes = 65_536;

/**
 * The bus over Redis pub/sub. All topics share one channel: a message to a thread of 200 agents is one call instead of 200, and a new stream
 * needs no subscription. In return every process receives every wake-up and ignores those without a stream here.
 */
export function createRedisBus({ url, prefix, log }: RedisBusOptions): Bus {
  const report = createLimitedLog(log);
  const topics = createTopicTable(report);
  const open = parseRedisAddress(url).kind === 'cluster' ? connectShardedChannels : connectSingleChannel;

  function onPayload(payload: string): void {
    try {
      for (const { topic, body } of unpackMessages(payload)) topics.dispatch(topic, body);
    } catch (error) {
      report('a message on the channel of the bus could not be read', error);
    }
  }
  const connection = open({ url, channel: `${prefix}bus`, onPayload, log: report });

  return {
    async publish(messages) {
      if (messages.length > 0)
        await connection.send(packPayloads(messages.map(packMessage), maxPayloadBytes));
    },

    subscribe: topics.subscribe,
    isHealthy: () => connection.isHealthy(),
    close: () => connection.close(),
  };
}
