import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { hash, randomBytes } from 'node:crypto';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Clock } from '../../shared/clock.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { Tokens } from './tokens.ts';

/** A ticket expires after this time, or with its token if that is earlier. */
const ticketLifeMs = 60_000;

export interface StreamTicket {
  ticket: string;
  /** Milliseconds since the epoch. */
  expires_at: number;
}

export interface StreamTickets {
  /** Issues a one-time ticket for the token of this actor. */
  issue(actor: Actor): Promise<StreamTicket>;
  /**
   * Redeems a ticket: returns the actor of its token, with the same rights and expiry. It can be redeemed once, in any process.
   * @throws {DomainError} UNAUTHORIZED if it is unknown, used, expired, or its token has ended; UNAVAILABLE, which can use it up
   */
  redeem(ticket: string): Promise<Actor>;
}

export interface StreamTicketsParts {
  unitOfWork: Pick<UnitOfWork, 'read'>;
  tokens: Pick<Tokens, 'confirm'>;
  clock: Pick<Clock, 'now' | 'steadyOffsetMs'>;
}

const ticketPattern = /^[\w-]{43}$/;

/**
 * Creates one-time tickets for WebSocket handshakes without headers, because browsers cannot set them. URLs end up in logs, so a
 * ticket expires quickly and works once.
 */
export function createStreamTickets({ unitOfWork, tokens, clock }: StreamTicketsParts): StreamTickets {
  return {
    async issue({ token_id, expires_at: tokenExpiresAt }) {
      const ticket = randomBytes(32).toString('base64url');
      const expires_at = Math.min(clock.now() + ticketLifeMs, tokenExpiresAt + clock.steadyOffsetMs());
      const row = { token_hash: Buffer.from(token_id, 'base64url'), expires_at };
      await unitOfWork.read(system, ({ db: { streamTickets } }) => streamTickets.insert(sha256(ticket), row));
      return { ticket, expires_at };
    },
    async redeem(ticket) {
      if (!ticketPattern.test(ticket)) throw invalidTicket();
      const row = await unitOfWork.read(system, ({ db: { streamTickets } }) =>
        streamTickets.take(sha256(ticket)),
      );
      if (!row || row.expires_at <= clock.now()) throw invalidTicket();
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
    'This ticket is unknown, was used or has expired; request a new one.',
  );
}
