import { randomUUID } from 'node:crypto';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { taskNotFound } from '../../../packages/core/src/policies/tasks.ts';
import type { PushConfigRow } from '../../repositories/a2a/push-configs.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { sealFor } from './push-requests.ts';
import { requireClientTask, type TaskOfAgent } from './tasks.ts';

/** The maximum number of configs of one task. */
const maxPushConfigs = 5;

/** Where to send the updates of a task. */
export interface PushTarget {
  /** Undefined: a new one. */
  id: string | undefined;
  url: string;
  /** A secret of Standard Webhooks signs the requests; any other token is sent. */
  token: string | undefined;
  /** The header Authorization. */
  authentication: { scheme: string; credentials?: string | undefined } | undefined;
  has_mailbox: boolean;
  version: PushConfigRow['version'];
}

/**
 * Stores a config of a task of the actor, or replaces the one with its ID. A new config gets the updates after the current one. A replaced
 * config continues after the last update that its receiver accepted, also if it was stopped.
 * @throws {DomainError} TASK_NOT_FOUND, VALIDATION_ERROR for the URL or for one config too many
 */
export async function putPushConfig(work: Work, of: TaskOfAgent, target: PushTarget): Promise<PushConfigRow> {
  const { db } = work;
  const id = target.id ?? newConfigId(target, of.task_id);
  const wrongUrl = findWrongUrl(work, target);
  if (wrongUrl) throw wrongUrl;
  const { id: task_id } = await requireClientTask(work, of);
  const [task] = await db.tasks.lock([task_id]);
  if (!task) throw taskNotFound();
  const configs = await db.pushConfigs.list(task_id);
  if (configs.length >= maxPushConfigs && configs.every((config) => config.id !== id)) {
    const message = `A task has at most ${maxPushConfigs} push notification configs; delete one first.`;
    throw new DomainError('VALIDATION_ERROR', message);
  }
  await storePushConfig(work, task, { ...target, id });
  return requirePushConfig(work, of, id);
}

/** The error VALIDATION_ERROR for an address that is not allowed. */
export function findWrongUrl({ settings }: Work, { url }: Pick<PushTarget, 'url'>): DomainError | undefined {
  const problem = settings.webhookSender.checkUrl(url);
  return problem === undefined ? undefined : wrongField('url', problem);
}

/** In A2A 0.3, a config without an ID has that of its task (section 7.5). */
const newConfigId = ({ version }: Pick<PushTarget, 'version'>, task_id: string): string =>
  version === '0.3' ? task_id : randomUUID();

/** Stores a config of a locked or new task of the actor. It gets the updates after the current one. */
export function storePushConfig(
  { db, settings, now }: Work,
  { id: task_id, client_id, generation }: Pick<TaskRow, 'id' | 'client_id' | 'generation'>,
  { id: given, url, token, authentication, has_mailbox, version }: PushTarget,
): Promise<void> {
  const id = given ?? newConfigId({ version }, task_id);
  const seal = sealFor(settings.sealedBox, { task_id, id });
  return db.pushConfigs.put({
    task_id,
    id,
    client_id,
    url,
    scheme: authentication?.scheme ?? null,
    credentials: seal('credentials', authentication?.credentials),
    token: seal('token', token),
    has_mailbox,
    version,
    position: generation,
    now,
  });
}

/** @throws {DomainError} TASK_NOT_FOUND, for the task and for the config */
export async function requirePushConfig(work: Work, of: TaskOfAgent, id: string): Promise<PushConfigRow> {
  await requireClientTask(work, of);
  const config = await work.db.pushConfigs.find(of.task_id, id);
  if (!config)
    throw new DomainError('TASK_NOT_FOUND', 'This task has no push notification config with this id.');
  return config;
}

/** Returns the configs of a task, oldest first. @throws {DomainError} TASK_NOT_FOUND */
export async function listPushConfigs(work: Work, of: TaskOfAgent): Promise<PushConfigRow[]> {
  const { id } = await requireClientTask(work, of);
  return work.db.pushConfigs.list(id);
}

/** Deletes a config, if the task has it. @throws {DomainError} TASK_NOT_FOUND for the task */
export async function removePushConfig(work: Work, of: TaskOfAgent, id: string): Promise<void> {
  const task = await requireClientTask(work, of);
  await work.db.pushConfigs.remove(task.id, id);
}
