import type { MessageRow } from '../../repositories/messages/messages.ts';
import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { wantsNoReply } from '../../../packages/core/src/domain/threads.ts';
import type { SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { requireThread } from '../access.ts';
import { lockThread, sendMessage } from '../messages/send.ts';
import { createServiceActor } from './service-actor.ts';

/**
 * The id of the echo agent. It is fixed, and callers cannot choose ids, so an agent with this id was registered by this file: a handle
 * could belong to an agent of the operator.
 */
export const echoAgentId = 'agt_0000000000000000000000ECH0';

const ownerName = 'ams';
const handle = `${ownerName}.echo`;

/** Characters of a message that the echo repeats. */
const maxEchoLength = 4_000;

type SystemAccess = Pick<UnitOfWork, 'read' | 'write'>;

/**
 * Returns the handle of the echo agent. The first caller registers it, for an organization without members: its name is reserved.
 * @throws {DomainError} DUPLICATE_HANDLE if the operator has given its handle to another agent, or has deleted it
 */
export async function ensureEchoAgent(unitOfWork: SystemAccess): Promise<string> {
  const find = () => unitOfWork.read(system, ({ db: { agents } }) => agents.find(echoAgentId));
  const existing = await find();
  if (existing) return existing.canonical_handle;
  try {
    return await unitOfWork.write(system, registerEchoAgent);
  } catch (error) {
    // Another caller was faster.
    const registered = await find();
    if (registered) return registered.canonical_handle;
    throw error;
  }
}

/**
 * Registers the echo agent if a caller looks for it by its handle, so that a first question needs no preparation.
 * @returns whether the handle is now that of an agent; false if it is another handle, or one that the operator has taken away
 */
export async function ensureEchoFor(unitOfWork: SystemAccess, ref: string): Promise<boolean> {
  if (ref.toLowerCase() !== handle) return false;
  return ensureEchoAgent(unitOfWork).then(
    () => true,
    (error: unknown) => {
      if (error instanceof DomainError) return false;
      throw error;
    },
  );
}

async function registerEchoAgent(work: SystemWork): Promise<string> {
  const organization = { id: newId('organization'), name: ownerName, created_at: work.now };
  const owner =
    (await work.db.owners.find(ownerName)) ?? (await work.db.owners.insertOrganization(organization))[0];
  if (!owner) throw new Error('the owner of the echo agent was not inserted');
  await work.db.agents.insert({
    id: echoAgentId,
    owner_id: owner.id,
    member_account_id: null,
    canonical_handle: handle,
    display_name: 'Echo',
    description: 'Answers every message in a thread of two with its text.',
    scope: owner.kind === 'account' ? 'personal' : 'shared',
    visibility: 'public',
    inbound_policy: 'open',
    card_body: '',
    skills: [],
    created_at: work.now,
  });
  work.changes.audit({ act: 'agent.registered', agent_id: echoAgentId });
  return handle;
}

/**
 * Answers the messages of these events that were sent to the echo agent. Each message is answered once, however often this runs. The
 * echo does not answer messages that expect no reply, like its own, and gives up where a message is refused: a loop, a block, a closed
 * thread.
 */
export async function answerAsEcho(unitOfWork: SystemAccess, event_ids: readonly string[]): Promise<void> {
  const events = await unitOfWork.read(system, ({ db: { feed } }) => feed.readEvents(event_ids));
  const messages = events.flatMap(({ type, message }) =>
    type === 'message.created' && message && isAnswerable(message) ? [message] : [],
  );
  for (const message of messages) {
    try {
      await unitOfWork.write(system, (work) => answer(work, message));
    } catch (error) {
      if (!(error instanceof DomainError) || error.code === 'UNAVAILABLE') throw error;
    }
  }
}

function isAnswerable({ sender_id, content, metadata }: MessageRow): boolean {
  return sender_id !== echoAgentId && content !== '' && !wantsNoReply(metadata);
}

/** The lock of the thread is held until the commit, so a concurrent run finds the answer. */
async function answer(opened: SystemWork, { id, thread_id, sequence, content }: MessageRow): Promise<void> {
  const echo = await opened.db.agents.find(echoAgentId);
  if (!echo) return;
  const work = { ...opened, actor: createServiceActor(echo, 'echo') };
  await lockThread(work, thread_id);
  const { members } = await requireThread(work, thread_id);
  if (members.length !== 2 || (await work.db.messages.hasReply({ thread_id, sequence, id }, echoAgentId)))
    return;
  const text = content.slice(0, maxEchoLength).replace(/[\uD800-\uDBFF]$/, '');
  await sendMessage(work, {
    thread_id,
    content: text.length < content.length ? `${text}…` : text,
    content_type: 'text',
    attachment_ids: [],
    reply_to: id,
    metadata: { no_reply_expected: true },
  });
}
