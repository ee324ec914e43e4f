import { DomainError } from '../domain/errors.ts';
import { said } from './flash.ts';
import { plainMessage } from './refusal.ts';
import type { Redirected } from './route.ts';

const tellable = new Set([400, 403, 404, 409, 422, 429]);

/**
 * Does what a button asks for and goes to `to`, where the sentence stands that `run` answers. What is refused is said there
 * too: mostly somebody else was faster, or the button was pressed twice.
 */
export async function orWarning(to: string, run: () => Promise<string>): Promise<Redirected> {
  try {
    return { to, flash: said(await run()) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (!tellable.has(error.status) && error.code !== 'AGENT_PAUSED') throw error;
    return { to, flash: { tone: 'warning', text: plainMessage(error) } };
  }
}
