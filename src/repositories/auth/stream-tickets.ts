import { repository, sql } from '../sql.ts';

export interface StreamTicketRow {
  /** SHA-256 of the access token that it replaces. */
  token_hash: Buffer;
  expires_at: number;
}

export const streamTicketsRepository = repository({
  insert: sql.run<[ticketHash: Buffer, streamTicketRow: StreamTicketRow]>(
    'stream_tickets.insert(ticket_hash, ...)',
    `insert into stream_tickets (ticket_hash, token_hash, expires_at) values (:ticket_hash, :token_hash, :expires_at)`,
  ),
  /** Removes a ticket and returns it, expired or not: only one caller in any process gets it. */
  take: sql.row<[ticketHash: Buffer], StreamTicketRow>(
    'stream_tickets.take',
    `delete from stream_tickets where ticket_hash = :ticket_hash returning token_hash, expires_at`,
  ),
  /** Removes up to `limit` tickets that expired before `time` (ms); returns how many. */
  removeExpired: sql.rowCount<[time: number, limit: number]>(
    'stream_tickets.remove_expired(time, limit)',
    `delete from stream_tickets where ticket_hash in
       (select ticket_hash from stream_tickets where expires_at < :time limit :limit)
     returning 1`,
  ),
});
