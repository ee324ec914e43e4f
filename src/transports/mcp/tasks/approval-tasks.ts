import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { approvalDenied } from '../../../operations/execute/approval.ts';
import type { Approval } from '../../../services/approvals/approvals.ts';
import { elicitationOf } from '../approvals/approver.ts';
import { approvalUrl } from '../approvals/question-text.ts';
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
  async function find({ caller }: TaskCall, id: string): Promise<FoundApproval | undefined> {
    try {
      const approval = await parts.findApproval(caller.actor.agent_id, id);
      const tool = tools.get(approval.action);
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
      const modes = call.caller.client?.elicitation ?? [];
      // Opening the page decides nothing; the page stores the decision.
      if (!modes.includes('form') && !('action' in response && response.action === 'decline')) return;
      await repeatCall(parts, asForm(call), { ...found, response: { ...response } });
    },
    async cancel(call, id) {
      const found = await find(call, id);
      if (found?.approval.state !== 'pending') return;
      await repeatCall(parts, asForm(call), { ...found, response: { action: 'decline' } });
    },
  };
}

/** Repeats the call; `response` is what the client answers to the question. */
function repeatCall(
  parts: McpParts,
  { caller, signal }: TaskCall,
  { approval, tool, response }: FoundApproval & { response?: Record<string, unknown> },
) {
  const { id, target, message } = approval;
  const args = { handle: target, ...(message !== '' && { message }) };
  return callTool(parts, caller, {
    tool,
    args,
    exchange: {
      signal,
      ask: async ({ key }) => (key === id && response ? { result: response } : undefined),
    },
  });
}

/** The result of a decided approval: the stored answer of its call, or that of the call, if it has not run. */
async function readResult(parts: McpParts, call: TaskCall, found: FoundApproval): Promise<object> {
  const { approval, tool } = found;
  if (approval.state === 'denied') {
    const { body } = toOperationError(
      parts,
      call.caller,
      { operation: tool.operation, args: {} },
      approvalDenied(approval),
    );
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] };
  }
  if (approval.answer === null) return repeatCall(parts, call, found);
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
  const modes = caller.client?.elicitation ?? [];
  if (modes.length === 0) return { status: 'working', message };
  const question = { method: 'elicitation/create', params: elicitationOf(public_url, modes, approval) };
  return { status: 'input_required', message, questions: { [approval.id]: question } };
}

/** The same call of a client that can show forms. */
function asForm({ caller, signal }: TaskCall): TaskCall {
  const client = { name: '', version: '', ...caller.client, elicitation: ['form' as const] };
  return { caller: { ...caller, client }, signal };
}
