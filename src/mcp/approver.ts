import type { ApprovalDecision } from '../domain/approvals.ts';
import type { Approver } from '../operations/approval.ts';
import type { Tokens } from '../services/tokens.ts';
import { approvalUrl } from './approval-url.ts';
import { type Asked, questionInWords } from './approval-words.ts';
import type { Caller } from './caller.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { Exchange } from './exchange.ts';
import { reporting, usualProgress_ms } from './reporting.ts';

export interface ApproverParts {
  tokens: Pick<Tokens, 'confirm'>;
  public_url: string;
  /** How long a person may think before the call is answered without a decision, in ms. Default 5 minutes. */
  approval_ms?: number;
  /** Time between two reports to a client that wants to hear how long he thinks, in ms. Default 5,000. */
  progress_ms?: number;
}

const usualPatience = 300_000;

/**
 * Asks the person behind a session in the ways that its client declared (MCP, Elicitation): by a form with one choice, else by
 * the page of the approval. Everything but a clear yes or no leaves the question as it stands.
 */
export function approverOf(
  { tokens, public_url, approval_ms = usualPatience, progress_ms = usualProgress_ms }: ApproverParts,
  { actor, session }: Pick<Caller, 'actor' | 'session'>,
  { ask, notify, log, progress, signal }: Exchange,
): Approver {
  const ways = session?.client.elicitation ?? [];

  function elicit(params: Record<string, unknown>, given_up: AbortSignal): Promise<ClientAnswer | undefined> {
    const request = { method: 'elicitation/create', params, timeout_ms: approval_ms, signal: given_up };
    return ask ? ask(request) : Promise.resolve(undefined);
  }

  async function byForm(asked: Asked, given_up: AbortSignal) {
    const message = questionInWords(asked);
    return formDecision(await elicit({ message, requestedSchema: oneChoice }, given_up));
  }

  /** The client only says whether the page was opened; what is decided there is seen in the row. */
  async function byPage(
    asked: Asked,
    settled: AbortSignal,
    given_up: AbortSignal,
  ): Promise<ApprovalDecision | undefined> {
    const deadline = Date.now() + approval_ms;
    const url = approvalUrl(public_url, asked.id);
    const message = `${questionInWords(asked)} Decide on this page.`;
    const answer = await elicit({ mode: 'url', elicitationId: asked.id, url, message }, given_up);
    if (answer?.result?.['action'] === 'decline') return 'denied';
    if (answer?.result?.['action'] !== 'accept') return undefined;
    await untilAborted(given_up, deadline - Date.now());
    if (settled.aborted) await notify?.('notifications/elicitation/complete', { elicitationId: asked.id });
    return undefined;
  }

  return {
    client_name: session?.client.name ?? null,
    signal,
    async confirm() {
      await tokens.confirm(actor.token_id, 'mcp');
    },
    async ask(asked, settled) {
      if (!ask || ways.length === 0) return undefined;
      const given_up = AbortSignal.any([signal, settled]);
      const { id: approval_id, action, target } = asked;
      const approval_url = approvalUrl(public_url, approval_id);
      log?.('info', 'approvals', { waits_for: 'a decision', approval_id, approval_url, action, target });
      return reporting({ progress, progress_ms }, approval_ms, () =>
        ways.includes('form') ? byForm(asked, given_up) : byPage(asked, settled, given_up),
      );
    },
  };
}

const oneChoice = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', title: 'Approve', description: 'Whether the agent may do this, once.' },
  },
  required: ['approve'],
};

/** Only a yes is a yes; to send the form with a no is a no. */
function formDecision(answer: ClientAnswer | undefined): ApprovalDecision | undefined {
  const { action, content } = answer?.result ?? {};
  if (action === 'decline') return 'denied';
  if (action !== 'accept') return undefined;
  const approve: unknown =
    typeof content === 'object' && content !== null ? Reflect.get(content, 'approve') : null;
  if (approve === true) return 'approved';
  return approve === false ? 'denied' : undefined;
}

function untilAborted(signal: AbortSignal, longest_ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(done, Math.max(0, longest_ms));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
