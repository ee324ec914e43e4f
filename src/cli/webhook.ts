import { system } from '../../packages/core/src/domain/auth/audit.ts';
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
import { printResult, resultCommand } from './output.ts';
import { withCore, operator } from './core.ts';
import type { CommandIo } from './io.ts';
import { deliveriesCommand, replayCommand } from './webhook-deliveries.ts';

interface Json {
  json?: boolean;
}

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

/** `ams webhook …` */
export function webhookCommand(io: CommandIo): Command {
  return new Command('webhook')
    .description('manage webhooks')
    .addCommand(createCommand(io))
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(updateCommand(io))
    .addCommand(removeCommand(io))
    .addCommand(rotateCommand(io))
    .addCommand(testCommand(io))
    .addCommand(deliveriesCommand(io))
    .addCommand(replayCommand(io));
}

interface CreateOptions extends Json {
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
    .action(async (handle: string, options: CreateOptions) => {
      const { url, events, description, onlyWhenOffline } = options;
      const input = {
        url,
        event_types: toEventTypes(events),
        description,
        only_when_offline: onlyWhenOffline,
      };
      const { webhook, secret } = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), async (work) => {
          const { id } = await findAgentByHandle(work, handle);
          return createWebhook(work, { agent_id: id, scopes: allScopes }, input);
        }),
      );
      printResult(io, options, { ...presentWebhook(webhook), secret });
    });
}

function listCommand(io: CommandIo): Command {
  return resultCommand('list', 'list the webhooks of an agent, oldest first')
    .argument('<handle>')
    .action(async (handle: string, options: Json) => {
      const found = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, async (work) =>
          listWebhooks(work, (await findAgentByHandle(work, handle)).id),
        ),
      );
      const webhooks = found.map(presentWebhook);
      printResult(io, options, options.json ? { webhooks } : webhooks);
    });
}

function showCommand(io: CommandIo): Command {
  return resultCommand('show', 'show a webhook, and why it is disabled')
    .argument('<id>')
    .action(async (id: string, options: Json) => {
      const webhook = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, (work) => requireAnyWebhook(work, id)),
      );
      printResult(io, options, presentWebhook(webhook));
    });
}

interface UpdateOptions extends Json {
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
    .action(async (id: string, options: UpdateOptions) => {
      const { url, events, description, onlyWhenOffline, enabled } = options;
      const changes: WebhookChanges = {
        url,
        event_types: events && toEventTypes(events),
        description,
        only_when_offline: onlyWhenOffline,
        enabled,
      };
      const webhook = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), async (work) => {
          const { agent_id } = await requireAnyWebhook(work, id);
          return updateWebhook(work, { agent_id, scopes: allScopes }, id, changes);
        }),
      );
      printResult(io, options, presentWebhook(webhook));
    });
}

function removeCommand(io: CommandIo): Command {
  return resultCommand('remove', 'remove a webhook and abandon its pending deliveries')
    .argument('<id>')
    .action(async (id: string, options: Json) => {
      await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), async (work) =>
          removeWebhook(work, (await requireAnyWebhook(work, id)).agent_id, id),
        ),
      );
      printResult(io, options, { id, removed: true });
    });
}

function rotateCommand(io: CommandIo): Command {
  return resultCommand('rotate', 'create a new secret; the previous one also signs for 24 hours')
    .argument('<id>')
    .action(async (id: string, options: Json) => {
      const { webhook, secret } = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), async (work) =>
          rotateWebhookSecret(work, (await requireAnyWebhook(work, id)).agent_id, id),
        ),
      );
      printResult(io, options, { ...presentWebhook(webhook), secret });
    });
}

function testCommand(io: CommandIo): Command {
  return resultCommand('test', 'send a webhook.test event and print the response')
    .argument('<id>')
    .action(async (id: string, options: Json) => {
      const response = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, async (work) =>
          sendTestEvent(work, (await requireAnyWebhook(work, id)).agent_id, id),
        ),
      );
      printResult(io, options, presentWebhookTest(response));
    });
}
