import { type Command, Option } from 'commander';
import { type DeliveryState, deliveryStates } from '../../packages/core/src/domain/webhooks.ts';
import { presentWebhookDelivery } from '../../packages/core/src/events/webhook-record.ts';
import { requireAnyWebhook } from '../services/webhooks/access.ts';
import { listLatestDeliveries, replayDelivery, replayFailed } from '../services/webhooks/deliveries.ts';
import { reading, writing } from './actions.ts';
import type { CommandIo } from './io.ts';
import { integerInRange, parseTime } from './option-values.ts';
import { resultCommand } from './output.ts';

interface LogOptions {
  state?: DeliveryState;
  limit: number;
}

/** `ams webhook deliveries …` */
export function deliveriesCommand(io: CommandIo): Command {
  return resultCommand('deliveries', 'list the deliveries of a webhook, newest first')
    .argument('<id>')
    .addOption(new Option('--state <state>', 'only deliveries in this state').choices(deliveryStates))
    .option('--limit <n>', 'maximum number', integerInRange(1, 1_000), 50)
    .action(
      reading(
        io,
        async (work, id: string, { state, limit }: LogOptions) => {
          const { agent_id } = await requireAnyWebhook(work, id);
          const rows = await listLatestDeliveries(work, agent_id, id, { state: state ?? null, limit });
          return rows.map(presentWebhookDelivery);
        },
        'deliveries',
      ),
    );
}

/** `ams webhook replay …`: workers send the replayed deliveries within seconds. */
export function replayCommand(io: CommandIo): Command {
  return resultCommand('replay', 'send one event again, or all failed deliveries since a time')
    .argument('<id>')
    .argument('[event_id]')
    .option('--since <time>', 'replay events since this time', parseTime)
    .action(
      writing(io, async (work, id: string, event_id: string | undefined, { since }: { since?: number }) => {
        if ((event_id === undefined) === (since === undefined)) {
          throw new Error('give either an event_id or --since');
        }
        const { agent_id } = await requireAnyWebhook(work, id);
        if (event_id === undefined) return replayFailed(work, agent_id, id, since ?? 0);
        return presentWebhookDelivery(await replayDelivery(work, agent_id, id, event_id));
      }),
    );
}
