import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { ApiOverrides, CoreOverrides } from '../../../src/start/overrides.ts';
import { createLogRecorder } from '../../support/log-recorder.ts';
import { type AgentOptions, startService } from '../../support/service.ts';

export type RealtimeNodeOptions = Pick<ApiOverrides, 'realtime' | 'webSocketLimits'> &
  Pick<CoreOverrides, 'wrapBus'>;

/** An API process, and events to send through it that need no thread. */
export async function startRealtimeNode(options: RealtimeNodeOptions = {}) {
  const { logger, entries } = createLogRecorder();
  const service = await startService({
    worker: false,
    env: { DATABASE_POOL_SIZE: '8' },
    overrides: { ...options, logger },
  });
  const { core, parts } = service;
  const { unitOfWork } = core;
  const handles = new Map<string, string>();

  return {
    address: service.url,
    port: Number(new URL(service.url).port),
    webSocket: parts.webSocket,
    realtime: parts.live.realtime,
    publishRevocations: parts.live.publishRevocations,
    tokens: parts.live.tokens,
    /** What the process logged as a warning or an error. */
    logged: entries,
    database: core.database,
    db: core.db,
    cursors: core.settings.cursors,
    /** A new agent; returns its id. */
    async agent(): Promise<string> {
      const { id, handle } = await service.agent();
      handles.set(id, handle);
      return id;
    },
    /** A token of this agent that may read threads. */
    token: (agent_id: string, token: AgentOptions = {}): Promise<string> =>
      service.token(handles.get(agent_id) ?? '', { scopes: ['threads:read'], ...token }),
    /** Commits one event to the feeds of these agents. Returns the subject that identifies it. */
    async emit(recipients: readonly string[], subject: string, thread_id = newId('thread')): Promise<string> {
      await unitOfWork.write(buildActor(recipients[0] ?? ''), async (work) => {
        const data = buildThreadData(thread_id, subject);
        work.changes.emit({ type: 'thread.updated', thread_id, data, recipients });
        return { body: '' };
      });
      return subject;
    },
    /** Commits one event that belongs to no thread. */
    async emitContact(recipient: string, canonical_handle: string): Promise<void> {
      await unitOfWork.write(buildActor(recipient), async (work) => {
        const data = { agent_id: newId('agent'), canonical_handle };
        work.changes.emit({ type: 'contact.removed', recipients: [recipient], data });
        return { body: '' };
      });
    },
    async stop(): Promise<void> {
      await service.stop();
    },
  };
}

function buildActor(agent_id: string): Actor {
  return {
    agent_id,
    handle: 'ada.bot',
    owner_id: 'acc_1',
    scopes: new Set(),
    client_id: 'client',
    resource: '',
    expires_at: Number.MAX_SAFE_INTEGER,
    token_id: '',
  };
}

function buildThreadData(id: string, subject: string): object {
  const times = { created_at: 1, updated_at: 1, last_message_at: null };
  return { id, subject, status: 'active', created_by: 'agt_1', members: [], last_sequence: 0, ...times };
}
