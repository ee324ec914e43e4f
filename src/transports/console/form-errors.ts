import { DomainError, type ErrorCode } from '../../../packages/core/src/domain/errors.ts';
import type { Redirect, ShownPage } from './route.ts';

/** Errors of a form, for the page that shows the form again. */
export interface FormErrors {
  status: number;
  code: ErrorCode;
  /** The error of the whole form; undefined if there are field errors. */
  message: string | undefined;
  /** Errors by field. An error of `skills.0.name` is also listed under `skills`. */
  fields: Readonly<Record<string, string>>;
  retry_after: number | undefined;
}

/** Status codes of errors that the person can correct in the form. */
const correctableStatuses = new Set([400, 403, 409, 413, 422, 429]);

/** The field of errors without a field, by error code. */
export type FieldByCode = Partial<Record<ErrorCode, string>>;

/**
 * Handles a form. `showForm` shows the form again with errors that the person can correct; other errors become an error page.
 * @param fieldByCode the field to which errors of these codes belong; these errors are always correctable.
 */
export async function orShowFormAgain<Done, Shown>(
  run: () => Promise<Done>,
  showForm: (formErrors: FormErrors) => Shown | Promise<Shown>,
  fieldByCode: FieldByCode = {},
): Promise<Done | Shown> {
  try {
    return await run();
  } catch (error) {
    if (
      !(error instanceof DomainError) ||
      !(correctableStatuses.has(error.status) || fieldByCode[error.code])
    )
      throw error;
    return showForm(toFormErrors(error, fieldByCode));
  }
}

function toFormErrors(error: DomainError, fieldByCode: FieldByCode): FormErrors {
  const { status, code, details = [], retry_after } = error;
  const field = fieldByCode[code];
  const allDetails =
    field !== undefined && details.length === 0 ? [{ field, message: error.message }] : details;
  const fieldErrors = allDetails.filter((detail) => detail.field !== '');
  return {
    // 404 and 503 would describe the page instead of the form.
    status: correctableStatuses.has(status) ? status : 400,
    code,
    message: fieldErrors.length > 0 ? undefined : plainMessage(error),
    fields: Object.fromEntries([
      ...fieldErrors.map((detail) => [detail.field.split('.')[0] ?? '', detail.message]),
      ...fieldErrors.map((detail) => [detail.field, detail.message]),
    ]),
    retry_after,
  };
}

/** What a page shows besides the errors of its fields. */
export type ShownErrors = Pick<FormErrors, 'status' | 'message' | 'retry_after'>;

/** A page with a form. Title and status show whether it has errors. */
export function formPage(title: string, body: ShownPage['body'], errors: ShownErrors | undefined): ShownPage {
  if (errors === undefined) return { title, body };
  return { title: `Error: ${title}`, body, status: errors.status, retry_after: errors.retry_after };
}

/** The message of an error for people. Rate limit errors name a time to wait instead of a number of calls. */
export function plainMessage({ code, message, retry_after }: DomainError): string {
  return code === 'RATE_LIMITED'
    ? `Too many attempts. Wait ${waitText(retry_after ?? 60)} and try again.`
    : message;
}

function waitText(seconds: number): string {
  if (seconds < 90) return 'a minute';
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

const warningStatuses = new Set([400, 403, 404, 409, 422, 429]);

/**
 * Runs a change and redirects to `to` with the message that `run` returns, or with the error message. Most errors here come from
 * concurrent changes or a button pressed twice.
 */
export async function redirectOrWarn<Other extends Redirect | ShownPage = Redirect>(
  to: string,
  run: () => Promise<string | Other>,
): Promise<Redirect | Other> {
  try {
    const answer = await run();
    return typeof answer === 'string' ? { to, flash: answer } : answer;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (!warningStatuses.has(error.status) && error.code !== 'AGENT_PAUSED') throw error;
    return { to, warning: plainMessage(error) };
  }
}
