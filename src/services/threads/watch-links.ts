import { randomBytes } from 'node:crypto';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { maxWatchLinks, watchLinkMs } from '../../../packages/core/src/domain/watching.ts';
import type { ThreadRow } from '../../repositories/threads/threads.ts';
import type { ListedWatchLinkRow, OpenWatchLinkRow } from '../../repositories/threads/watch-links.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { agentNotFound, attachmentNotFound } from '../access.ts';
import { sha256 } from '../auth/token-records.ts';
import { type ConversationPage, readPreviews, signConversationDownload } from './conversation-page.ts';
import { readConversation, requireConversation } from './conversations.ts';

interface NewWatchLink {
  thread_id: string;
  /** A member as which the person can act. */
  agent_id: string;
  allows_files: boolean;
  /** How long the link is open, in milliseconds. */
  duration_ms: number;
}

/**
 * Makes a link with which people without an account read a thread. Only a session of the console may call it: a token must not publish a
 * conversation. All members are told.
 * @returns the address, which is not stored
 * @throws {DomainError} THREAD_NOT_FOUND, AGENT_NOT_FOUND (not a member as which the person can act), VALIDATION_ERROR
 */
export async function createWatchLink(
  work: SystemWork,
  account_id: string,
  { thread_id, agent_id, allows_files, duration_ms }: NewWatchLink,
): Promise<string> {
  await requireConversation(work, { account_id }, thread_id);
  await work.db.watchLinks.lockThread(thread_id);
  // Again: a member may have left before the lock.
  const { agents, watched_by } = await requireConversation(work, { account_id }, thread_id);
  const member = agents.find(({ id }) => id === agent_id);
  if (!member) throw agentNotFound();
  if (!(duration_ms >= watchLinkMs.min && duration_ms <= watchLinkMs.max))
    throw wrongField('lasts', 'must be from 1 hour to 30 days');
  if (watched_by.length >= maxWatchLinks)
    throw new DomainError(
      'VALIDATION_ERROR',
      `A conversation can have ${maxWatchLinks} open links. End one first.`,
    );
  const secret = randomBytes(32).toString('base64url');
  const id = newId('watchLink');
  const expires_at = work.now + duration_ms;
  const link = { id, thread_id, agent_id, account_id, allows_files, created_at: work.now, expires_at };
  await work.db.watchLinks.insert({ ...link, secret_hash: sha256(secret) });
  await emitWatch(work, thread_id, 'thread.watched', [member]);
  const detail = { thread_id, expires_at, allows_files };
  work.changes.audit({ act: 'watch_link.created', agent_id, about: id, detail });
  return `${work.settings.publicUrl}/watch/${secret}`;
}

/**
 * Returns the open links of a thread that were made for agents as which the person can act, newest first.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function listWatchLinks(
  work: ReadWork,
  account_id: string,
  thread_id: string,
): Promise<ListedWatchLinkRow[]> {
  const { agents } = await requireConversation(work, { account_id }, thread_id);
  return work.db.watchLinks.listOfMembers(
    thread_id,
    agents.map(({ id }) => id),
  );
}

/**
 * Ends open links of agents as which the person can act: one link, or all of one member. All members are told.
 * @param which the id of a link or of a member
 * @throws {DomainError} THREAD_NOT_FOUND, NOT_FOUND
 */
export async function endWatchLinks(
  work: SystemWork,
  account_id: string,
  { thread_id, which }: { thread_id: string; which: string },
): Promise<void> {
  const own = await listWatchLinks(work, account_id, thread_id);
  const links = own.filter(({ id, agent_id }) => id === which || agent_id === which);
  if (links.length === 0) throw new DomainError('NOT_FOUND', 'This link has already ended.');
  await endLinks(
    work,
    thread_id,
    links.map(({ id }) => id),
  );
  for (const { id, agent_id } of links) work.changes.audit({ act: 'watch_link.ended', agent_id, about: id });
}

/** Ends the links of a member that leaves a thread, which is locked. Returns the links that stay, as members see them. */
export async function endWatchLinksOfMember(
  work: SystemWork,
  { id: thread_id, watched_by }: Pick<ThreadRow, 'id' | 'watched_by'>,
  { id: agent_id, canonical_handle }: ThreadRow['members'][number],
): Promise<ThreadRow['watched_by']> {
  if (watched_by.every((watch) => watch.canonical_handle !== canonical_handle)) return watched_by;
  const links = await work.db.watchLinks.listOfMembers(thread_id, [agent_id]);
  return endLinks(
    work,
    thread_id,
    links.map(({ id }) => id),
  );
}

/** Tells members of links that have expired. Returns the number of links. */
export async function endExpiredWatchLinks(work: SystemWork, limit: number): Promise<number> {
  const expired = await work.db.watchLinks.listExpired(work.now, limit);
  await endByThread(work, expired);
  return expired.length;
}

/**
 * Tells members of links whose people have lost the right, in a page of all open links. Reads of a link check the same.
 * @param after the link before the page
 * @returns the last link of the page; empty after the last page
 */
export async function endLostWatchLinks(work: SystemWork, after: string, limit: number): Promise<string> {
  const page = await work.db.watchLinks.listChecked(work.now, after, limit);
  await endByThread(
    work,
    page.filter(({ is_open }) => !is_open),
  );
  return page.length < limit ? '' : (page.at(-1)?.id ?? '');
}

/** Ends the links of an agent that retires. */
export async function endWatchLinksOfAgent(work: SystemWork, agent_id: string): Promise<void> {
  await endByThread(work, await work.db.watchLinks.listOpenOfAgent(agent_id));
}

async function endByThread(
  work: SystemWork,
  links: readonly { id: string; thread_id: string }[],
): Promise<void> {
  // In one order, so that two of these never wait for each other.
  const threads = [...new Set(links.map(({ thread_id }) => thread_id))].sort();
  for (const thread_id of threads)
    await endLinks(
      work,
      thread_id,
      links.filter((link) => link.thread_id === thread_id).map(({ id }) => id),
    );
}

async function endLinks(
  work: SystemWork,
  thread_id: string,
  ids: readonly string[],
): Promise<ThreadRow['watched_by']> {
  await work.db.watchLinks.lockThread(thread_id);
  return emitWatch(work, thread_id, 'thread.unwatched', await work.db.watchLinks.end(ids, work.now));
}

/** Tells all members what happened to the links of these. Returns the open links. */
async function emitWatch(
  work: SystemWork,
  thread_id: string,
  type: 'thread.watched' | 'thread.unwatched',
  members: readonly { id: string; canonical_handle: string }[],
): Promise<ThreadRow['watched_by']> {
  const recipients = await work.db.threadMembers.lock(thread_id);
  const { watched_by } = await work.db.watchLinks.findWatches(thread_id);
  for (const { id, canonical_handle } of recipients.length > 0 ? members : []) {
    const member = { id, canonical_handle };
    work.changes.emit({ type, thread_id, recipients, data: { thread_id, member, watched_by } });
  }
  return watched_by;
}

/** A link that works. */
export type OpenWatchLink = OpenWatchLinkRow;

/** Returns the link of a secret. Undefined: there is none, or it works no more. */
export function findWatchLink(work: ReadWork, secret: string): Promise<OpenWatchLink | undefined> {
  return work.db.watchLinks.findOpen(sha256(secret), work.now);
}

/** Counts that somebody opened a link. */
export async function countWatchView(work: SystemWork, { id }: Pick<OpenWatchLink, 'id'>): Promise<void> {
  await work.db.watchLinks.countView(id, work.now);
}

/** What the page of a link shows of the metadata of messages. */
const shownMetadata = ['erased', 'asks_person', 'no_reply_expected'];

/**
 * Returns what a link shows of its thread: what its member reads, without receipts, tasks, approvals, metadata, and how others relate to it.
 * @throws {DomainError} THREAD_NOT_FOUND when the link has ended meanwhile
 */
export async function readWatchedConversation(
  work: ReadWork,
  { thread_id, account_id, allows_files }: OpenWatchLink,
  input: Omit<Parameters<typeof readConversation>[2], 'thread_id'>,
): Promise<ConversationPage> {
  const read = await readConversation(work, { account_id }, { ...input, thread_id });
  const messages = read.messages.map((message) => ({
    ...message,
    relationship: 'none' as const,
    metadata: Object.fromEntries(shownMetadata.map((name) => [name, message.metadata[name]])),
    attachments: allows_files ? message.attachments : [],
  }));
  return {
    ...read,
    conversation: { ...read.conversation, agents: [], waiting: null, open_task: null },
    messages,
    receipts: [],
    approvals: [],
    tasks: [],
    // No links to cards.
    profiles: read.profiles.map((profile) => ({ ...profile, visibility: 'private', is_online: false })),
    previews: await readPreviews(work, messages),
  };
}

/**
 * Returns a signed URL of a file in the thread of a link. It expires after five minutes.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND, also when the link shows no files; THREAD_NOT_FOUND, ATTACHMENT_NOT_READY, ATTACHMENT_INFECTED
 */
export async function signWatchedDownload(
  work: ReadWork,
  { thread_id, account_id, allows_files }: OpenWatchLink,
  attachment_id: string,
): Promise<string> {
  if (!allows_files) throw attachmentNotFound();
  return signConversationDownload(work, { account_id }, { thread_id, attachment_id });
}
