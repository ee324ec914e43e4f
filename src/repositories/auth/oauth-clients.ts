import { type Queryable, statement } from '../queryable.ts';

/** A client that registered itself (RFC 7591). */
export interface OAuthClientRow {
  client_id: string;
  metadata: Record<string, unknown>;
  created_at: number;
  last_used_at: number | null;
}

const statements = {
  insert: statement(
    'oauth_clients.insert',
    `insert into oauth_clients (client_id, metadata, created_at) values ($1, $2, $3)`,
  ),
  find: statement(
    'oauth_clients.find',
    `select client_id, metadata, created_at, last_used_at from oauth_clients where client_id = $1`,
  ),
  /** A client with a grant may come back for as long as the grant lives. */
  removeUnused: statement(
    'oauth_clients.remove_unused',
    `delete from oauth_clients where client_id in
       (select c.client_id from oauth_clients c
        where coalesce(c.last_used_at, c.created_at) < $1
          and not exists (select from client_grants g where g.client_id = c.client_id) limit $2)
     returning 1`,
  ),
};

export function oauthClientsRepository(db: Queryable) {
  return {
    async insert(client: Pick<OAuthClientRow, 'client_id' | 'metadata' | 'created_at'>): Promise<void> {
      await db.query(statements.insert, [client.client_id, client.metadata, client.created_at]);
    },
    async find(clientId: string): Promise<OAuthClientRow | undefined> {
      return (await db.query<OAuthClientRow>(statements.find, [clientId]))[0];
    },
    /** Removes up to `limit` clients that were last used before `time` (ms) and have no grant; returns how many. */
    async removeUnused(time: number, limit: number): Promise<number> {
      return (await db.query(statements.removeUnused, [time, limit])).length;
    },
  };
}
