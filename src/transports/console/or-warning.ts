import { DomainError } from '../../domain/errors.ts';
import { successFlash } from './flash.ts';
import { plainMessage } from './form-errors.ts';
import type { Redirect } from './route.ts';

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
