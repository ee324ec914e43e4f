import { type Queryable, statement } from '../queryable.ts';

export interface StreamTicketRow {
  /** SHA-256 of the access token that it replaces. */
  token_hash: Buffer;
  expires_at: number;
}

const statements = {
  insert: statement(
    'stream_tickets.insert',
    `insert into stream_tickets (ticket_hash, token_hash, expires_at) values ($1, $2, $3)`,
  ),
  take: statement(
    'stream_tickets.take',
    `delete from stream_tickets where ticket_hash = $1 returning token_hash, expires_at`,
  ),
  removeExpired: statement(
    'stream_tickets.remove_expired',
    `delete from stream_tickets where ticket_hash in
       (select ticket_hash from stream_tickets where expires_at < $1 limit $2)
     returning 1`,
  ),
};

export function streamTicketsRepository(db: Queryable) {
  return {
    async insert(ticketHash: Buffer, { token_hash, expires_at }: StreamTicketRow): Promise<void> {
      await db.query(statements.insert, [ticketHash, token_hash, expires_at]);
    },
    /** Removes a ticket and returns it, expired or not: only one caller in any process gets it. */
    async take(ticketHash: Buffer): Promise<StreamTicketRow | undefined> {
      return (await db.query<StreamTicketRow>(statements.take, [ticketHash]))[0];
    },
    /** Removes up to `limit` tickets that expired before `time` (ms); returns how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await db.query(statements.removeExpired, [time, limit])).length;
    },
  };
}
