import type { Config } from '../config.ts';
import type { GuardedClient } from '../platform/outbound/guarded-fetch.ts';
import { createCursors } from '../work/cursors.ts';
import { createSealedBox, deriveKeys } from '../shared/encryption.ts';
import { createSendContext } from '../services/messages/send-context/create.ts';
import type { WorkSettings } from '../work/unit-of-work.ts';
import { openWebhookSender } from './connections.ts';

interface Parts {
  addresses: WorkSettings['addresses'];
  remoteClient: GuardedClient;
  sends: Pick<Parameters<typeof createSendContext>[1], 'onThread' | 'onDifference'>;
}

/** What all units of work of a process share. The webhook sender must be closed. */
export function createWorkSettings(config: Config, { addresses, remoteClient, sends }: Parts) {
  const limits = config.RATE_LIMITS === 'off' ? null : config.RATE_LIMITS;
  return {
    cursors: createCursors(config.SECRETS),
    addresses,
    sendContext: createSendContext(config.SEND_CONTEXT, { ...sends, hasLoopLimit: Boolean(limits?.loop) }),
    publicUrl: config.PUBLIC_URL,
    a2aWaitSeconds: config.A2A_WAIT_SECONDS,
    taskDays: config.TASK_DAYS,
    limits,
    attachmentTypes: config.ATTACHMENT_TYPES,
    sealedBox: createSealedBox(deriveKeys(config.SECRETS, 'ams vault')),
    webhookSender: openWebhookSender(config),
    remote: config.REMOTE_AGENTS
      ? { checkUrl: remoteClient.checkUrl, needsPerson: config.REMOTE_CONFIRM === 'person' }
      : null,
    async runApproved(...call) {
      // Only one command of the operator needs the operations. The others start faster without them.
      const { runApproved } = await import('../operations/execute/run-approved.ts');
      return runApproved(...call);
    },
    maxAgents: config.AGENTS_PER_OWNER === 0 ? null : config.AGENTS_PER_OWNER,
  } satisfies WorkSettings;
}
