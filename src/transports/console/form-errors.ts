import { DomainError, type ErrorCode } from '../../domain/errors.ts';
import { successFlash } from './flash.ts';
import type { Redirect, Answer, Shell, ShownPage } from './route.ts';

/** Why a form was refused, for the page that shows it again. */
export interface FormRefusal {
  status: number;
  code: ErrorCode;
  /** What is wrong as a whole; undefined when the fields tell it. */
  message: string | undefined;
  /** What is wrong with single fields, by name; parts of a field (`skills.0.name`) stand under its name too. */
  fields: Readonly<Record<string, string>>;
  retry_after: number | undefined;
}

/** Refusals that a person can do something about, in the form itself. */
const correctableStatuses = new Set([400, 403, 409, 413, 422, 429]);

/** The field that a refusal is about which names none itself. */
type FieldByCode = Partial<Record<ErrorCode, string>>;

/**
 * Does what a form asks for. When it is refused and the person can do something about that, `again` shows the form once more.
 * Whatever else is thrown becomes an error page.
 * @param at which field refusals of these codes are about; they all can be corrected there.
 */
export async function orShowFormAgain(
  run: () => Promise<Answer>,
  again: (refusal: FormRefusal) => Answer | Promise<Answer>,
  at: FieldByCode = {},
): Promise<Answer> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DomainError) || !(correctableStatuses.has(error.status) || at[error.code]))
      throw error;
    return again(toFormRefusal(error, at));
  }
}

function toFormRefusal(error: DomainError, at: FieldByCode): FormRefusal {
  const { status, code, details = [], retry_after } = error;
  const field = at[code];
  const known = field !== undefined && details.length === 0 ? [{ field, message: error.message }] : details;
  const named = known.filter((detail) => detail.field !== '');
  return {
    // Of what a form names wrongly, 404 would say that the page is not there, and 503 that it may be later.
    status: correctableStatuses.has(status) ? status : 400,
    code,
    message: named.length > 0 ? undefined : plainMessage(error),
    fields: Object.fromEntries([
      ...named.map((detail) => [detail.field.split('.')[0] ?? '', detail.message]),
      ...named.map((detail) => [detail.field, detail.message]),
    ]),
    retry_after,
  };
}

/** A page with a form. When the form was refused, title and status say so. */
export function formPage(
  title: string,
  body: ShownPage['body'],
  refusal: FormRefusal | undefined,
  shell?: Shell,
): ShownPage {
  const page = { body, ...(shell === undefined ? {} : { shell }) };
  if (refusal === undefined) return { ...page, title };
  return { ...page, title: `Error: ${title}`, status: refusal.status, retry_after: refusal.retry_after };
}

/** What an error says to a person; used up budgets are told in words, not in numbers of calls. */
export function plainMessage({ code, message, retry_after }: DomainError): string {
  return code === 'RATE_LIMITED'
    ? `Too many tries. Wait ${waitText(retry_after ?? 60)}, then try again.`
    : message;
}

function waitText(seconds: number): string {
  if (seconds < 90) return 'a minute';
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

const shownStatuses = new Set([400, 403, 404, 409, 422, 429]);

/**
 * Does what a button asks for and goes to `to`, where the sentence stands that `run` answers. What is refused is said there
 * too: mostly somebody else was faster, or the button was pressed twice.
 */
export async function redirectOrWarn(to: string, run: () => Promise<string>): Promise<Redirect> {
  try {
    return { to, flash: successFlash(await run()) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (!shownStatuses.has(error.status) && error.code !== 'AGENT_PAUSED') throw error;
    return { to, flash: { tone: 'warning', text: plainMessage(error) } };
  }
}
