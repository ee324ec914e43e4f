import { actedAsByPerson } from '../agents/rights.ts';
import { repository, sql } from '../sql.ts';
import { type ThreadMember, type Watch, watchedBy } from './threads.ts';

/** A link with which people without an account read a thread. Times are in milliseconds. */
export interface WatchLinkRow {
  id: string;
  thread_id: string;
  /** The member for which it was made: the link shows what this member may read. */
  agent_id: string;
  /** The person who made it. */
  account_id: string;
  allows_files: boolean;
  created_at: number;
  expires_at: number;
}

/** A link that works, with what its page depends on. */
export interface OpenWatchLinkRow extends WatchLinkRow {
  /** Changes with each entry of the thread in the feed of its member, and seldom with others. */
  last_entry: number;
}

/** A link as the people of its member see it. */
export interface ListedWatchLinkRow extends WatchLinkRow {
  canonical_handle: string;
  /** The username of the person who made it. */
  made_by: string;
  views: number;
  viewed_at: number | null;
}

const columns = `w.id, w.thread_id, w.agent_id, w.account_id, w.allows_files, w.created_at, w.expires_at`;

/**
 * For `watch_links w` of `agents a`: whether the link is open. The member is still in the thread and of the same owner, and the person who made
 * the link may still act as it.
 */
const isOpen = `w.ended_at is null and w.expires_at > :now and a.owner_id = w.owner_id and ${actedAsByPerson('w.account_id')}
  and exists (select from thread_members m where m.thread_id = w.thread_id and m.agent_id = w.agent_id)`;

/** Of the feed of the member of a link: an entry of another thread is looked up once for each of the next ones. */
const maxEntries = 50;

/**
 * For `watch_links w`: the last entry of its thread in the feed of its member. Without one among the newest entries it is a number that
 * changes once for so many entries, so that no change is missed. Each entry is looked up by its key (offset 0).
 */
const lastEntry = `(select coalesce(
    (select f.number from feed f cross join lateral (select thread_id from events where id = f.event_id offset 0) e
     where f.agent_id = h.agent_id and f.number > h.last_number - ${maxEntries} and e.thread_id = w.thread_id order by f.number desc limit 1),
    -(h.last_number / ${maxEntries}))
  from feed_heads h where h.agent_id = w.agent_id)`;

export const watchLinksRepository = repository({
  /** The owner is that of the agent now. */
  insert: sql.run<[link: WatchLinkRow & { secret_hash: Buffer }]>(
    'watch_links.insert',
    `insert into watch_links (id, thread_id, agent_id, owner_id, account_id, secret_hash, allows_files, created_at, expires_at)
     select :id, :thread_id, a.id, a.owner_id, :account_id, :secret_hash, :allows_files, :created_at, :expires_at
     from agents a where a.id = :agent_id`,
  ),
  /** The link of a secret, if it works. One statement for all secrets, so that its time tells nothing. */
  findOpen: sql.row<[secretHash: Buffer, now: number], OpenWatchLinkRow>(
    'watch_links.find_open(secret_hash, now)',
    `select ${columns}, ${lastEntry} as last_entry
     from watch_links w join agents a on a.id = w.agent_id where w.secret_hash = :secret_hash and ${isOpen}`,
  ),
  countView: sql.run<[id: string, now: number]>(
    'watch_links.count_view(id, now)',
    'update watch_links set views = views + 1, viewed_at = :now where id = :id',
  ),
  /** Locks a thread until the transaction ends. It needs no member. */
  lockThread: sql.run<[threadId: string]>(
    'watch_links.lock_thread',
    'select id from threads where id = :thread_id for no key update',
  ),
  /** The open links of these members of a thread, newest first. */
  listOfMembers: sql.rows<[threadId: string, agentIds: readonly string[]], ListedWatchLinkRow>(
    'watch_links.list_of_members(thread_id, agent_ids)',
    `select ${columns}, a.canonical_handle, o.name as made_by, w.views, w.viewed_at
     from watch_links w join agents a on a.id = w.agent_id join owners o on o.id = w.account_id
     where w.thread_id = :thread_id and w.agent_id = any(:agent_ids::text[]) and w.ended_at is null order by w.id desc`,
  ),
  /** What members see of the open links of a thread. */
  findWatches: sql.single<[threadId: string], { watched_by: Watch[] }>(
    'watch_links.find_watches',
    `select ${watchedBy} from threads t where t.id = :thread_id`,
  ),
  /** Ends those of these links that are open. Returns the members for which they were made. */
  end: sql.rows<[ids: readonly string[], now: number], ThreadMember>(
    'watch_links.end(ids, now)',
    `update watch_links w set ended_at = :now from agents a
     where w.id = any(:ids::text[]) and w.ended_at is null and a.id = w.agent_id returning a.id, a.canonical_handle`,
  ),
  /** Links of which members were not told that they have expired. */
  listExpired: sql.rows<[now: number, limit: number], Pick<WatchLinkRow, 'id' | 'thread_id'>>(
    'watch_links.list_expired(now, limit)',
    'select id, thread_id from watch_links where ended_at is null and expires_at <= :now order by expires_at limit :limit',
  ),
  /** A page of the links of which members were not told that they have ended, and whether each still works. */
  listChecked: sql.rows<
    [now: number, after: string, limit: number],
    Pick<WatchLinkRow, 'id' | 'thread_id'> & { is_open: boolean }
  >(
    'watch_links.list_checked(now, after, limit)',
    `select w.id, w.thread_id, ${isOpen} as is_open
     from (select * from watch_links where ended_at is null and id > :after order by id limit :limit) w join agents a on a.id = w.agent_id
     order by w.id`,
  ),
  listOpenOfAgent: sql.rows<[agentId: string], Pick<WatchLinkRow, 'id' | 'thread_id'>>(
    'watch_links.list_open_of_agent',
    'select id, thread_id from watch_links where agent_id = :agent_id and ended_at is null',
  ),
  removeEnded: sql.rowCount<[before: number, limit: number]>(
    'watch_links.remove_ended(before, limit)',
    'delete from watch_links where id in (select id from watch_links where ended_at < :before limit :limit) returning 1',
  ),
});
