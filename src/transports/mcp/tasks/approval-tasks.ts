import type { ApprovalDecision } from '../../../../packages/core/src/domain/approvals.ts';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import type { Approval } from '../../../services/approvals/approvals.ts';
import { approvalDenied, approvalUrl } from '../../../services/approvals/decide.ts';
import { elicitationOf, listModes, readDecision } from '../approvals/approver.ts';
import type { McpParts } from '../parts.ts';
import { isPermitted } from '../protocol/required-scopes.ts';
import { callTool } from '../tools/call-tool.ts';
import { toOperationError } from '../tools/run-operation.ts';
import type { Tool } from '../tools/tools.ts';
import type { Task, TaskCall, TaskSource } from './task-source.ts';

interface FoundApproval {
  approval: Approval;
  tool: Tool;
}

/**
 * Approvals as tasks. The id of the task is that of the approval, which is stored with everything that the call needs. So a task survives
 * restarts of the client and of every process, and ends as the approval ends.
 */
export function createApprovalTasks(parts: McpParts, tools: ReadonlyMap<string, Tool>): TaskSource {
  // Tools can have other names than their operations.
  const toolOf = new Map([...tools.values()].map((tool) => [tool.operation?.name, tool]));

  async function find({ caller }: TaskCall, id: string): Promise<FoundApproval | undefined> {
    try {
      const approval = await parts.findApproval(caller.actor.agent_id, id);
      const tool = toolOf.get(approval.action);
      return tool && isPermitted(tool, caller.actor) ? { approval, tool } : undefined;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  return {
    async read(call, id) {
      const found = await find(call, id);
      if (!found) return undefined;
      const { created_at, expires_at, decided_at, state } = found.approval;
      const times = { created_at, expires_at, updated_at: decided_at ?? created_at };
      if (state === 'pending') return { ...times, ...describePending(parts, call, found.approval) };
      if (state === 'expired')
        return { ...times, status: 'cancelled', message: 'No person decided in time.' };
      if (expires_at <= Date.now()) return undefined;
      return { ...times, status: 'completed', result: await readResult(parts, call, found) };
    },
    async update(call, id, responses) {
      const found = await find(call, id);
      const response = Object.hasOwn(responses, id) ? responses[id] : undefined;
      if (found?.approval.state !== 'pending' || typeof response !== 'object' || response === null) return;
      const modes = listModes(call.caller, found.approval);
      // Opening the page decides nothing; the page stores the decision.
      if (!modes.includes('form') && !('action' in response && response.action === 'decline')) return;
      await decide(parts, found.approval, readDecision({ result: { ...response } }));
    },
    async cancel(call, id) {
      const found = await find(call, id);
      if (found?.approval.state !== 'pending') return;
      await decide(parts, found.approval, 'denied');
    },
  };
}

/** Decides as the client's person. A call that is no longer possible stays pending, as where its page decides. */
async function decide(
  parts: McpParts,
  approval: Approval,
  decision: ApprovalDecision | undefined,
): Promise<void> {
  if (!decision) return;
  try {
    await parts.decideApproval(approval, decision);
  } catch (error) {
    if (!(error instanceof DomainError) || error.status >= 500) throw error;
  }
}

/** The result of a decided approval: the stored answer of its call, or that of the call, if it has not run. */
async function readResult(parts: McpParts, call: TaskCall, found: FoundApproval): Promise<object> {
  const { approval, tool } = found;
  if (approval.state === 'denied') {
    const { body } = toOperationError(
      parts,
      call.caller,
      { operation: tool.operation, args: {} },
      approvalDenied(approval, { publicUrl: parts.public_url }),
    );
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] };
  }
  if (approval.answer === null) {
    const { target: handle, message } = approval;
    const args = { handle, ...(message !== '' && { message }) };
    const exchange = { signal: call.signal };
    return callTool(parts, call.caller, { tool, args, exchange, already_consumed: true });
  }
  const output = JSON.parse(approval.answer) as object;
  const structuredContent = tool.toResult?.(output) ?? output;
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

function describePending(
  { public_url }: McpParts,
  { caller }: TaskCall,
  approval: Approval,
): Pick<Task, 'status' | 'message' | 'questions'> {
  const message = `A person must approve this call first, at ${approvalUrl(public_url, approval.id)}`;
  const modes = listModes(caller, approval);
  if (modes.length === 0) return { status: 'working', message };
  const question = { method: 'elicitation/create', params: elicitationOf(public_url, modes, approval) };
  return { status: 'input_required', message, questions: { [approval.id]: question } };
}
