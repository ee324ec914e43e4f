import { isOnline } from '../agents/presence.ts';
import { type Queryable, statement } from '../queryable.ts';

export interface ContactRow {
  agent_id: string;
  canonical_handle: string;
  display_name: string;
  favorite: boolean;
  since: number;
  /** Whether it holds a stream or a waiting call just now. */
  is_online: boolean;
}

/** One of two agents that are contacts, by id and handle. */
export type ContactRef = Pick<ContactRow, 'agent_id' | 'canonical_handle'>;

/** Of `contacts c` and the other side `agents a`. */
export const contactColumns = `a.id as agent_id, a.canonical_handle, a.display_name, c.favorite, c.since, ${isOnline}`;

const statements = {
  lockPair: statement(
    'contacts.lock_pair',
    `select pg_advisory_xact_lock(hashtextextended('pair:' || $1 || ':' || $2, 0))`,
  ),
  lockAgents: statement(
    'contacts.lock_agents',
    `select from agents where id in ($1, $2) order by id for share`,
  ),
  find: statement(
    'contacts.find',
    `select ${contactColumns} from contacts c join agents a on a.id = c.contact_id
     where c.agent_id = $1 and (a.id = $2 or a.canonical_handle = $2)`,
  ),
  list: statement(
    'contacts.list',
    `select ${contactColumns} from contacts c join agents a on a.id = c.contact_id
     where c.agent_id = $1 and ($2::text is null or a.canonical_handle > $2)
     order by a.canonical_handle limit $3`,
  ),
  ids: statement('contacts.ids', `select contact_id from contacts where agent_id = $1`),
  insert: statement(
    'contacts.insert',
    `insert into contacts (agent_id, contact_id, since) values ($1, $2, $3), ($2, $1, $3)`,
  ),
  setFavorite: statement(
    'contacts.set_favorite',
    `update contacts c set favorite = $3 from agents a
     where a.id = c.contact_id and c.agent_id = $1 and (a.id = $2 or a.canonical_handle = $2) returning c.contact_id`,
  ),
  remove: statement(
    'contacts.remove',
    `delete from contacts where (agent_id, contact_id) in (($1, $2), ($2, $1)) returning agent_id`,
  ),
  // In one order for everybody: two agents that end at once would otherwise wait for each other in a circle.
  removeAllOf: statement(
    'contacts.remove_all_of',
    `with held as (
       select agent_id, contact_id from contacts where agent_id = $1 or contact_id = $1
       order by least(agent_id, contact_id), greatest(agent_id, contact_id), agent_id for update
     ), gone as (
       delete from contacts c using held h where c.agent_id = h.agent_id and c.contact_id = h.contact_id
     )
     select a.id as agent_id, a.canonical_handle from held h join agents a on a.id = h.contact_id
     where h.agent_id = $1 order by a.canonical_handle`,
  ),
};

/** Contacts stand in both directions, or in none. */
export function contactsRepository(db: Queryable) {
  return {
    /**
     * Holds what stands between two agents until the transaction ends: nobody else changes their contact, their requests or
     * their blocks meanwhile, and neither of them is retired. Only what is read after it is certain.
     */
    async lockPair(one: string, other: string): Promise<void> {
      const pair = [one, other].sort();
      await Promise.all([db.query(statements.lockPair, pair), db.query(statements.lockAgents, pair)]);
    },
    /** A contact of an agent by id or canonical handle; also one that is hidden or retired. */
    async find(agentId: string, key: string): Promise<ContactRow | undefined> {
      return (await db.query<ContactRow>(statements.find, [agentId, key]))[0];
    },
    /** In the order of their handles, behind `after`. */
    list(agentId: string, page: { after: string | null; limit: number }): Promise<ContactRow[]> {
      return db.query<ContactRow>(statements.list, [agentId, page.after, page.limit]);
    },
    /** Ids of all contacts of an agent, which are also all who have it as one. */
    async listIds(agentId: string): Promise<string[]> {
      const rows = await db.query<{ contact_id: string }>(statements.ids, [agentId]);
      return rows.map(({ contact_id }) => contact_id);
    },
    /** In both directions. */
    async insert(contact: { agent_id: string; contact_id: string; since: number }): Promise<void> {
      await db.query(statements.insert, [contact.agent_id, contact.contact_id, contact.since]);
    },
    /** Whether there was such a contact. */
    async setFavorite(agentId: string, key: string, favorite: boolean): Promise<boolean> {
      return (await db.query(statements.setFavorite, [agentId, key, favorite])).length > 0;
    },
    /** In both directions. Whether there was a contact. */
    async remove(agentId: string, contactId: string): Promise<boolean> {
      return (await db.query(statements.remove, [agentId, contactId])).length > 0;
    },
    /** Ends every contact of an agent; answers those who had it. The agent's own row must be held, as by its retirement. */
    removeAllOf(agentId: string): Promise<ContactRef[]> {
      return db.query<ContactRef>(statements.removeAllOf, [agentId]);
    },
  };
}
