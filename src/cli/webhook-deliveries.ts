import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { type Command, Option } from 'commander';
import { type DeliveryState, deliveryStates } from '../../packages/core/src/domain/webhooks.ts';
import { presentWebhookDelivery } from '../../packages/core/src/events/webhook-record.ts';
import { requireAnyWebhook } from '../services/webhooks/access.ts';
import { listLatestDeliveries, replayDelivery, replayFailed } from '../services/webhooks/deliveries.ts';
import { printResult, resultCommand } from './output.ts';
import { withCore, operator } from './core.ts';
import type { CommandIo } from './io.ts';
import { integerInRange, parseTime } from './option-values.ts';

interface LogOptions {
  state?: DeliveryState;
  limit: number;
  json?: boolean;
}

/** `ams webhook deliveries …` */
export function deliveriesCommand(io: CommandIo): Command {
  return resultCommand('deliveries', 'list the deliveries of a webhook, newest first')
    .argument('<id>')
    .addOption(new Option('--state <state>', 'only deliveries in this state').choices(deliveryStates))
    .addOption(new Option('--limit <n>', 'maximum number').argParser(integerInRange(1, 1_000)).default(50))
    .action(async (id: string, { state, limit, json }: LogOptions) => {
      const rows = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, async (work) => {
          const { agent_id } = await requireAnyWebhook(work, id);
          return listLatestDeliveries(work, agent_id, id, { state: state ?? null, limit });
        }),
      );
      const deliveries = rows.map(presentWebhookDelivery);
      printResult(io, { ...(json && { json }) }, json ? { deliveries } : deliveries);
    });
}

/** `ams webhook replay …`: workers send the replayed deliveries within seconds. */
export function replayCommand(io: CommandIo): Command {
  return resultCommand('replay', 'send one event again, or all failed deliveries since a time')
    .argument('<id>')
    .argument('[event_id]')
    .addOption(new Option('--since <time>', 'replay events since this time').argParser(parseTime))
    .action(async (id: string, event_id: string | undefined, options: { since?: number; json?: boolean }) => {
      const { since } = options;
      if ((event_id === undefined) === (since === undefined)) {
        throw new Error('give either an event_id or --since');
      }
      const result = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), async (work) => {
          const { agent_id } = await requireAnyWebhook(work, id);
          if (event_id === undefined) return replayFailed(work, agent_id, id, since ?? 0);
          return presentWebhookDelivery(await replayDelivery(work, agent_id, id, event_id));
        }),
      );
      printResult(io, options, result);
    });
}
