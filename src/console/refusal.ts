import { DomainError } from '../domain/errors.ts';
import type { Answer } from './route.ts';

/** Why a form was refused, for the page that shows it again. */
export interface Refusal {
  status: number;
  /** What is wrong as a whole; undefined when the fields tell it. */
  message: string | undefined;
  /** What is wrong with single fields, by name. */
  fields: Readonly<Record<string, string>>;
  retry_after: number | undefined;
}

/** Refusals that a person can do something about, in the form itself. */
const correctable = new Set([400, 403, 409, 413, 422, 429]);

/**
 * Does what a form asks for. When it is refused and the person can do something about that, `again` shows the form once more.
 * Whatever else is thrown becomes an error page.
 */
export async function orAgain(
  run: () => Promise<Answer>,
  again: (refusal: Refusal) => Answer | Promise<Answer>,
): Promise<Answer> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DomainError) || !correctable.has(error.status)) throw error;
    return again(refusalOf(error));
  }
}

function refusalOf(error: DomainError): Refusal {
  const { status, details = [], retry_after } = error;
  const named = details.filter(({ field }) => field !== '');
  return {
    status,
    message: named.length > 0 ? undefined : plainMessage(error),
    fields: Object.fromEntries(named.map(({ field, message }) => [field.split('.')[0] ?? field, message])),
    retry_after,
  };
}

/** What an error says to a person; used up budgets are told in words, not in numbers of calls. */
export function plainMessage({ code, message, retry_after }: DomainError): string {
  return code === 'RATE_LIMITED'
    ? `Too many tries. Wait ${spoken(retry_after ?? 60)}, then try again.`
    : message;
}

function spoken(seconds: number): string {
  if (seconds < 90) return 'a minute';
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
