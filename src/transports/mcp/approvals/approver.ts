import type { ApprovalDecision } from '../../../domain/approvals.ts';
import type { Approver } from '../../../operations/execute/context.ts';
import type { Tokens } from '../../../services/auth/tokens.ts';
import { approvalUrl, type ApprovalQuestion, questionText } from './question-text.ts';
import type { Caller, Exchange } from '../protocol/exchange.ts';
import type { ClientResponse } from './client-response.ts';
import { withProgress, defaultProgressMs } from '../tools/progress.ts';

export interface ApproverParts {
  tokens: Pick<Tokens, 'confirm'>;
  public_url: string;
  /** Maximum wait for a decision, in ms. Default 5 minutes. */
  approval_ms?: number;
  /** Time between progress notifications, in ms. Default 5,000. */
  progress_ms?: number;
}

const defaultApprovalMs = 300_000;

/**
 * Asks the person at the client for a decision in a mode that the client supports (MCP, Elicitation): a form, else the URL of the
 * approval page. Anything but a clear yes or no leaves the approval pending.
 */
export function createApprover(
  { tokens, public_url, approval_ms = defaultApprovalMs, progress_ms = defaultProgressMs }: ApproverParts,
  { actor, session }: Pick<Caller, 'actor' | 'session'>,
  { ask, notify, log, progress, signal }: Exchange,
): Approver {
  const modes = session?.client.elicitation ?? [];

  function elicit(
    params: Record<string, unknown>,
    cancelled: AbortSignal,
  ): Promise<ClientResponse | undefined> {
    const request = { method: 'elicitation/create', params, timeout_ms: approval_ms, signal: cancelled };
    return ask ? ask(request) : Promise.resolve(undefined);
  }

  async function askByForm(question: ApprovalQuestion, cancelled: AbortSignal) {
    const message = questionText(question);
    return readDecision(await elicit({ message, requestedSchema: approvalFormSchema }, cancelled));
  }

  /** The client reports only that the page was opened; the page stores the decision. */
  async function askByPage(
    question: ApprovalQuestion,
    settled: AbortSignal,
    cancelled: AbortSignal,
  ): Promise<ApprovalDecision | undefined> {
    const deadline = Date.now() + approval_ms;
    const url = approvalUrl(public_url, question.id);
    const message = `${questionText(question)} Decide on this page.`;
    const answer = await elicit({ mode: 'url', elicitationId: question.id, url, message }, cancelled);
    if (answer?.result?.['action'] === 'decline') return 'denied';
    if (answer?.result?.['action'] !== 'accept') return undefined;
    await waitForAbort(cancelled, deadline - Date.now());
    if (settled.aborted) await notify?.('notifications/elicitation/complete', { elicitationId: question.id });
    return undefined;
  }

  return {
    client_name: session?.client.name ?? null,
    signal,
    async confirm() {
      await tokens.confirm(actor.token_id, 'mcp');
    },
    async ask(question, settled) {
      if (!ask || modes.length === 0) return undefined;
      const cancelled = AbortSignal.any([signal, settled]);
      const { id: approval_id, action, target } = question;
      const approval_url = approvalUrl(public_url, approval_id);
      log?.('info', 'approvals', { waits_for: 'a decision', approval_id, approval_url, action, target });
      return withProgress({ progress, progress_ms }, approval_ms, () =>
        modes.includes('form') ? askByForm(question, cancelled) : askByPage(question, settled, cancelled),
      );
    },
  };
}

const approvalFormSchema = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', title: 'Approve', description: 'Whether the agent may do this once.' },
  },
  required: ['approve'],
};

/** Submitting the form with `approve: false` denies; a cancelled or malformed form decides nothing. */
function readDecision(answer: ClientResponse | undefined): ApprovalDecision | undefined {
  const { action, content } = answer?.result ?? {};
  if (action === 'decline') return 'denied';
  if (action !== 'accept') return undefined;
  const approve: unknown =
    typeof content === 'object' && content !== null ? Reflect.get(content, 'approve') : null;
  if (approve === true) return 'approved';
  return approve === false ? 'denied' : undefined;
}

function waitForAbort(signal: AbortSignal, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(done, Math.max(0, timeoutMs));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
