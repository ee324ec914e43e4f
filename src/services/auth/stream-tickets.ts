import { hash, randomBytes } from 'node:crypto';
import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { Tokens } from './tokens.ts';

/** Milliseconds that a ticket lives, or until the end of its token when that comes first. */
const ticketLifeMs = 60_000;

export interface StreamTicket {
  ticket: string;
  /** Milliseconds since the epoch. */
  expires_at: number;
}

export interface StreamTickets {
  /** A ticket that stands for the token of this actor, once. */
  issue(actor: Actor): Promise<StreamTicket>;
  /**
   * The actor behind a ticket: that of its token, with the same rights and the same end. The ticket is used up by it, in every
   * process.
   * @throws {DomainError} UNAUTHORIZED when it is unknown, used, expired, or its token has ended; UNAVAILABLE, and then it is not
   * used up
   */
  redeem(ticket: string): Promise<Actor>;
}

export interface StreamTicketsParts {
  unitOfWork: Pick<UnitOfWork, 'readAsSystem'>;
  tokens: Pick<Tokens, 'confirm'>;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

const ticketPattern = /^[\w-]{43}$/;

/**
 * Tickets for those who can send no header with their handshake, as browsers cannot. An address is written down in many places on
 * its way, so what stands in it is worth nothing a moment later, or when it was used.
 */
export function createStreamTickets({
  unitOfWork,
  tokens,
  now = Date.now,
}: StreamTicketsParts): StreamTickets {
  return {
    async issue({ token_id, expires_at: tokenEnd }) {
      const ticket = randomBytes(32).toString('base64url');
      const expires_at = Math.min(now() + ticketLifeMs, tokenEnd);
      const row = { token_hash: Buffer.from(token_id, 'base64url'), expires_at };
      await unitOfWork.readAsSystem(({ streamTickets }) => streamTickets.insert(sha256(ticket), row));
      return { ticket, expires_at };
    },
    async redeem(ticket) {
      if (!ticketPattern.test(ticket)) throw invalidTicket();
      const row = await unitOfWork.readAsSystem(({ streamTickets }) => streamTickets.take(sha256(ticket)));
      if (!row || row.expires_at <= now()) throw invalidTicket();
      return tokens.confirm(row.token_hash.toString('base64url'), 'ws');
    },
  };
}

function sha256(ticket: string): Buffer {
  return hash('sha256', ticket, 'buffer');
}

function invalidTicket(): DomainError {
  return new DomainError(
    'UNAUTHORIZED',
    'This ticket is unknown, was used, or has expired; ask for a new one.',
  );
}
