import { repository, sql } from '../sql.ts';

/** A client that registered itself (RFC 7591). */
export interface OAuthClientRow {
  client_id: string;
  metadata: Record<string, unknown>;
  created_at: number;
  last_used_at: number | null;
}

export const oauthClientsRepository = repository({
  insert: sql.run<[client: Pick<OAuthClientRow, 'client_id' | 'metadata' | 'created_at'>]>(
    'oauth_clients.insert',
    `insert into oauth_clients (client_id, metadata, created_at) values (:client_id, :metadata, :created_at)`,
  ),
  find: sql.row<[clientId: string], OAuthClientRow>(
    'oauth_clients.find',
    `select client_id, metadata, created_at, last_used_at from oauth_clients where client_id = :client_id`,
  ),
  /**
   * Removes up to `limit` clients that were last used before `time` (ms) and have no grant; returns how many. A client with a grant may
   * come back for as long as the grant lives.
   */
  removeUnused: sql.rowCount<[time: number, limit: number]>(
    'oauth_clients.remove_unused(time, limit)',
    `delete from oauth_clients where client_id in
       (select c.client_id from oauth_clients c
        where coalesce(c.last_used_at, c.created_at) < :time
          and not exists (select from client_grants g where g.client_id = c.client_id) limit :limit)
     returning 1`,
  ),
});
