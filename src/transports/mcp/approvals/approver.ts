import { setTimeout as pause } from 'node:timers/promises';
import type { ApprovalDecision } from '../../../../packages/core/src/domain/approvals.ts';
import type { Approver } from '../../../operations/execute/context.ts';
import type { Tokens } from '../../../services/auth/tokens.ts';
import { approvalUrl } from '../../../services/approvals/decide.ts';
import { steadyNow } from '../../../shared/clock.ts';
import { type ApprovalQuestion, isWhole, questionText } from './question-text.ts';
import type { Caller, Exchange } from '../protocol/exchange.ts';
import type { ClientResponse } from './client-response.ts';
import { withProgress, defaultProgressMs } from '../tools/progress.ts';

export interface ApproverParts {
  tokens: Pick<Tokens, 'confirm'>;
  public_url: string;
  /** Maximum wait for a decision, in ms. Default 5 minutes. */
  approval_ms?: number;
  /** Maximum wait for a decision on the page if the client shows no progress, in ms. Default 25 s. */
  page_ms?: number;
  /** Time between progress notifications, in ms. Default 5,000. */
  progress_ms?: number;
}

const defaultApprovalMs = 300_000;

/** Many clients end a silent call after a minute, and then the model does not learn the address of the page. */
const defaultPageMs = 25_000;

/**
 * Asks the person at the client for a decision in a mode that the client supports (MCP, Elicitation): a form, else the URL of the
 * approval page. Anything but a clear yes or no leaves the approval pending.
 */
export function createApprover(
  {
    tokens,
    public_url,
    approval_ms = defaultApprovalMs,
    page_ms = defaultPageMs,
    progress_ms = defaultProgressMs,
  }: ApproverParts,
  { actor, client }: Pick<Caller, 'actor' | 'client'>,
  { ask, answered = [], defer, notify, log, progress, signal }: Exchange,
): Approver {
  function elicit(
    { id }: ApprovalQuestion,
    params: Record<string, unknown>,
    cancelled: AbortSignal,
  ): Promise<ClientResponse | undefined> {
    const question = { key: id, method: 'elicitation/create', params, timeout_ms: approval_ms };
    return ask ? ask({ ...question, signal: cancelled }) : Promise.resolve(undefined);
  }

  async function askByForm(question: ApprovalQuestion, cancelled: AbortSignal) {
    return readDecision(await elicit(question, elicitationOf(public_url, ['form'], question), cancelled));
  }

  /** The client reports only that the page was opened; the page stores the decision. */
  async function askByPage(
    question: ApprovalQuestion,
    settled: AbortSignal,
    cancelled: AbortSignal,
  ): Promise<ApprovalDecision | undefined> {
    const begun = steadyNow();
    const answer = await elicit(question, elicitationOf(public_url, ['url'], question), cancelled);
    if (answer?.result?.['action'] === 'decline') return 'denied';
    if (answer?.result?.['action'] !== 'accept') return undefined;
    const silentMs = progress ? approval_ms : Math.min(approval_ms, page_ms);
    const remainingMs = Math.max(0, begun + silentMs - steadyNow());
    // It rejects when the question is over.
    await pause(remainingMs, undefined, { signal: cancelled }).catch(() => undefined);
    if (settled.aborted) await notify?.('notifications/elicitation/complete', { elicitationId: question.id });
    return undefined;
  }

  return {
    client_name: client?.name ?? null,
    answered,
    signal,
    async confirm() {
      await tokens.confirm(actor.token_id, 'mcp');
    },
    async ask(question, settled) {
      defer?.(question.id);
      const modes = listModes({ actor, client }, question);
      if (defer || !ask || modes.length === 0) return undefined;
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

/**
 * The modes in which the client can ask this question. A form counts as a decision of a review only if it shows all of it, and if the token is
 * of a person's grant: that of a credential belongs to a program, which could approve what it sends.
 */
export function listModes(
  { actor, client }: Pick<Caller, 'actor' | 'client'>,
  question: ApprovalQuestion,
): readonly ('form' | 'url')[] {
  const modes = client?.elicitation ?? [];
  const hasForm = !question.is_review || (isWhole(question) && actor.grant_id !== undefined);
  return modes.filter((mode) => mode === 'url' || hasForm);
}

const approvalFormSchema = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', title: 'Approve', description: 'Whether the agent may do this once.' },
  },
  required: ['approve'],
};

/** The question as an elicitation in the best of these modes: a form, else the approval page. */
export function elicitationOf(
  public_url: string,
  modes: readonly ('form' | 'url')[],
  question: ApprovalQuestion,
): Record<string, unknown> {
  const message = questionText(question);
  if (modes.includes('form')) return { message, requestedSchema: approvalFormSchema };
  const url = approvalUrl(public_url, question.id);
  return { mode: 'url', elicitationId: question.id, url, message: `${message} Decide on this page.` };
}

/** Submitting the form with `approve: false` denies; a cancelled or malformed form decides nothing. */
export function readDecision(answer: ClientResponse | undefined): ApprovalDecision | undefined {
  const { action, content } = answer?.result ?? {};
  if (action === 'decline') return 'denied';
  if (action !== 'accept') return undefined;
  const approve: unknown =
    typeof content === 'object' && content !== null ? Reflect.get(content, 'approve') : null;
  if (approve === true) return 'approved';
  return approve === false ? 'denied' : undefined;
}
