import type { ApprovalDecision } from '../../../domain/approvals.ts';
import type { Approver } from '../../../operations/execute/context.ts';
import type { Tokens } from '../../../services/auth/tokens.ts';
import { approvalUrl } from './approval-url.ts';
import { type ApprovalQuestion, questionText } from './question-text.ts';
import type { Caller } from '../protocol/caller.ts';
import type { ClientResponse } from './client-response.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { withProgress, defaultProgressMs } from '../tools/progress.ts';

export interface ApproverParts {
  tokens: Pick<Tokens, 'confirm'>;
  public_url: string;
  /** How long a person may think before the call is answered without a decision, in ms. Default 5 minutes. */
  approval_ms?: number;
  /** Time between two reports to a client that wants to hear how long he thinks, in ms. Default 5,000. */
  progress_ms?: number;
}

const defaultApprovalMs = 300_000;

/**
 * Asks the person behind a session in the ways that its client declared (MCP, Elicitation): by a form with one choice, else by
 * the page of the approval. Everything but a clear yes or no leaves the question as it stands.
 */
export function createApprover(
  { tokens, public_url, approval_ms = defaultApprovalMs, progress_ms = defaultProgressMs }: ApproverParts,
  { actor, session }: Pick<Caller, 'actor' | 'session'>,
  { ask, notify, log, progress, signal }: Exchange,
): Approver {
  const ways = session?.client.elicitation ?? [];

  function elicit(
    params: Record<string, unknown>,
    given_up: AbortSignal,
  ): Promise<ClientResponse | undefined> {
    const request = { method: 'elicitation/create', params, timeout_ms: approval_ms, signal: given_up };
    return ask ? ask(request) : Promise.resolve(undefined);
  }

  async function byForm(asked: ApprovalQuestion, given_up: AbortSignal) {
    const message = questionText(asked);
    return readDecision(await elicit({ message, requestedSchema: approvalFormSchema }, given_up));
  }

  /** The client only says whether the page was opened; what is decided there is seen in the row. */
  async function byPage(
    asked: ApprovalQuestion,
    settled: AbortSignal,
    given_up: AbortSignal,
  ): Promise<ApprovalDecision | undefined> {
    const deadline = Date.now() + approval_ms;
    const url = approvalUrl(public_url, asked.id);
    const message = `${questionText(asked)} Decide on this page.`;
    const answer = await elicit({ mode: 'url', elicitationId: asked.id, url, message }, given_up);
    if (answer?.result?.['action'] === 'decline') return 'denied';
    if (answer?.result?.['action'] !== 'accept') return undefined;
    await waitForAbort(given_up, deadline - Date.now());
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
      return withProgress({ progress, progress_ms }, approval_ms, () =>
        ways.includes('form') ? byForm(asked, given_up) : byPage(asked, settled, given_up),
      );
    },
  };
}

const approvalFormSchema = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', title: 'Approve', description: 'Whether the agent may do this, once.' },
  },
  required: ['approve'],
};

/** Only a yes is a yes; to send the form with a no is a no. */
function readDecision(answer: ClientResponse | undefined): ApprovalDecision | undefined {
  const { action, content } = answer?.result ?? {};
  if (action === 'decline') return 'denied';
  if (action !== 'accept') return undefined;
  const approve: unknown =
    typeof content === 'object' && content !== null ? Reflect.get(content, 'approve') : null;
  if (approve === true) return 'approved';
  return approve === false ? 'denied' : undefined;
}

function waitForAbort(signal: AbortSignal, longest_ms: number): Promise<void> {
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
