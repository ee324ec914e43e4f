import { connectSingleChannel } from './single-channel.ts';
import { connectShardedChannels } from './sharded-channels.ts';
import { packPayloads, packMessage, unpackMessages } from './payloads.ts';
import { createTopicTable } from './topics.ts';
import type { Bus } from './bus.ts';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { parseRedisAddress } from '../redis/address.ts';

export interface RedisBusOptions {
  url: string;
  /** Put before the name of the channel, so that several installations or test suites share one Redis. */
  prefix: string;
  log: ErrorLog;
}

/**
 * The bus over Redis pub/sub. All topics share what carries them: a message to a thread of 200 rings 200 agents, and as one call of
 * Redis that costs a hundredth of 200 calls; nor does anybody who connects wait for Redis. In return every process hears every ring, and
 * drops those that it has no topic for.
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
  const carrier = open({ url, channel: `${prefix}bus`, onPayload, log: report });

  return {
    async publish(messages) {
      if (messages.length > 0) await carrier.send(packPayloads(messages.map(packMessage)));
    },

    async subscribe(topic, handler) {
      const remove = topics.add(topic, handler);
      return async () => {
        remove();
      };
    },

    isHealthy: () => carrier.isHealthy(),
    close: () => carrier.close(),
  };
}
