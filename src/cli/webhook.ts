import { Command, InvalidArgumentError, Option } from 'commander';
import { type EventType, eventTypes, isEventType } from '../../packages/core/src/events/list.ts';
import { scopes } from '../../packages/core/src/domain/auth/scopes.ts';
import { presentWebhook, presentWebhookTest } from '../../packages/core/src/events/webhook-record.ts';
import { findAgentByHandle } from '../services/agents/find-by-handle.ts';
import { requireAnyWebhook } from '../services/webhooks/access.ts';
import { sendTestEvent } from '../services/webhooks/send-test-event.ts';
import {
  createWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookChanges,
} from '../services/webhooks/webhooks.ts';
import { reading, writing } from './actions.ts';
import type { CommandIo } from './io.ts';
import { resultCommand } from './output.ts';
import { deliveriesCommand, replayCommand } from './webhook-deliveries.ts';

const allScopes: ReadonlySet<string> = new Set(scopes);

/** The value of `--events`. */
type Types = EventType[] | 'all';

function parseTypes(value: string): Types {
  if (value === 'all') return value;
  const names = value.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length === 0 || !names.every(isEventType)) {
    throw new InvalidArgumentError(`Must be all, or some of: ${eventTypes.join(' ')}`);
  }
  return [...new Set(names.filter(isEventType))];
}

const toEventTypes = (types: Types): EventType[] | null => (types === 'all' ? null : types);

const typesOption = () =>
  new Option('--events <list>', 'event types, separated by commas, or all').argParser(parseTypes);

interface CreateOptions {
  url: string;
  events: Types;
  description: string;
  onlyWhenOffline: boolean;
}

function createCommand(io: CommandIo): Command {
  return resultCommand('create', 'create a webhook for an agent; its secret cannot be shown again')
    .argument('<handle>')
    .requiredOption('--url <url>', 'receives the events')
    .addOption(typesOption().default('all'))
    .option('--description <text>', 'description for people', '')
    .option('--only-when-offline', 'send only while the agent has no open stream', false)
    .action(
      writing(io, async (work, handle: string, { events, onlyWhenOffline, ...options }: CreateOptions) => {
        const { url, description } = options;
        const input = {
          url,
          event_types: toEventTypes(events),
          description,
          only_when_offline: onlyWhenOffline,
        };
        const { id } = await findAgentByHandle(work, handle);
        const { webhook, secret } = await createWebhook(work, { agent_id: id, scopes: allScopes }, input);
        return { ...presentWebhook(webhook), secret };
      }),
    );
}

interface UpdateOptions {
  url?: string;
  events?: Types;
  description?: string;
  onlyWhenOffline?: boolean;
  enabled?: boolean;
}

function updateCommand(io: CommandIo): Command {
  return resultCommand('update', 'change a webhook; omitted options keep their value')
    .argument('<id>')
    .option('--url <url>', 'receives the events')
    .addOption(typesOption())
    .option('--description <text>', 'description for people')
    .option('--only-when-offline', 'send only while the agent has no open stream')
    .option('--no-only-when-offline', 'always send')
    .option('--enabled', 'enable it; it receives events from now on')
    .option('--no-enabled', 'disable it and abandon its pending deliveries')
    .action(
      writing(io, async (work, id: string, options: UpdateOptions) => {
        const { url, events, description, onlyWhenOffline, enabled } = options;
        const changes: WebhookChanges = {
          url,
          event_types: events && toEventTypes(events),
          description,
          only_when_offline: onlyWhenOffline,
          enabled,
        };
        const { agent_id } = await requireAnyWebhook(work, id);
        return presentWebhook(await updateWebhook(work, { agent_id, scopes: allScopes }, id, changes));
      }),
    );
}

/** `ams webhook …` */
export function webhookCommand(io: CommandIo): Command {
  const list = resultCommand('list', 'list the webhooks of an agent, oldest first')
    .argument('<handle>')
    .action(
      reading(
        io,
        async (work, handle: string) => {
          const { id } = await findAgentByHandle(work, handle);
          return (await listWebhooks(work, id)).map(presentWebhook);
        },
        'webhooks',
      ),
    );

  const show = resultCommand('show', 'show a webhook, and why it is disabled')
    .argument('<id>')
    .action(reading(io, async (work, id: string) => presentWebhook(await requireAnyWebhook(work, id))));

  const remove = resultCommand('remove', 'remove a webhook and abandon its pending deliveries')
    .argument('<id>')
    .action(
      writing(io, async (work, id: string) => {
        await removeWebhook(work, (await requireAnyWebhook(work, id)).agent_id, id);
        return { id, removed: true };
      }),
    );

  const rotate = resultCommand('rotate', 'create a new secret; the previous one also signs for 24 hours')
    .argument('<id>')
    .action(
      writing(io, async (work, id: string) => {
        const { agent_id } = await requireAnyWebhook(work, id);
        const { webhook, secret } = await rotateWebhookSecret(work, agent_id, id);
        return { ...presentWebhook(webhook), secret };
      }),
    );

  const test = resultCommand('test', 'send a webhook.test event and print the response')
    .argument('<id>')
    .action(
      reading(io, async (work, id: string) => {
        const { agent_id } = await requireAnyWebhook(work, id);
        return presentWebhookTest(await sendTestEvent(work, agent_id, id));
      }),
    );

  return new Command('webhook')
    .description('manage webhooks')
    .addCommand(createCommand(io))
    .addCommand(list)
    .addCommand(show)
    .addCommand(updateCommand(io))
    .addCommand(remove)
    .addCommand(rotate)
    .addCommand(test)
    .addCommand(deliveriesCommand(io))
    .addCommand(replayCommand(io));
}
