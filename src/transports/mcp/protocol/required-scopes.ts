import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { requireScope } from '../../../operations/execute/authorize-scope.ts';
import { findCompletion } from '../prompts/completion.ts';
import type { Prompt } from '../prompts/prompts.ts';
import type { Resources } from '../resources/resources.ts';
import type { ToolNames } from '../tools/tool-names.ts';
import type { Tool } from '../tools/tools.ts';

/** Tools, resources and prompts of the MCP server. */
export interface McpFeatures {
  tools: ReadonlyMap<string, Tool>;
  toolNames: ToolNames;
  resources: Resources;
  prompts: readonly Prompt[];
}

/** The tool, resource or completion that a message calls. */
export type CalledOperation = Pick<Tool, 'operation' | 'requirePermission' | 'waits' | 'sendsMessages'>;

/**
 * Checks the scopes of a message or batch before any of it runs.
 * @throws {DomainError} INSUFFICIENT_SCOPE
 */
export function requireScopes(features: McpFeatures, message: unknown, actor: Actor): void {
  for (const called of calledOperations(features, message)) requirePermissions(called, actor);
}

/** Whether the scopes of the token allow the operation. */
export function isPermitted(called: CalledOperation, actor: Actor): boolean {
  try {
    requirePermissions(called, actor);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'INSUFFICIENT_SCOPE') return false;
    throw error;
  }
}

function requirePermissions({ operation, requirePermission }: CalledOperation, actor: Actor): void {
  requireScope(operation, actor);
  requirePermission?.(actor);
}

/** The tools, resources and completions that a message or batch calls. */
export function calledOperations(features: McpFeatures, message: unknown): CalledOperation[] {
  return toMessages(message).flatMap((one) => calledOperation(features, one) ?? []);
}

/** The messages of a batch, or a list with the single message. */
export function toMessages(message: unknown): readonly unknown[] {
  return Array.isArray(message) ? message : [message];
}

function calledOperation(
  features: McpFeatures,
  message: unknown,
): CalledOperation | CalledOperation[] | undefined {
  const { tools, resources } = features;
  const params = readField(message, 'params');
  switch (readField(message, 'method')) {
    case 'tools/call': {
      const name = readField(params, 'name');
      return typeof name === 'string' ? tools.get(name) : undefined;
    }
    case 'resources/read':
    case 'resources/subscribe': {
      const uri = readField(params, 'uri');
      return typeof uri === 'string' ? resources.find(uri) : undefined;
    }
    case 'subscriptions/listen': {
      const uris = readField(readField(params, 'notifications'), 'resourceSubscriptions');
      return toMessages(uris).flatMap((uri) => (typeof uri === 'string' ? (resources.find(uri) ?? []) : []));
    }
    case 'completion/complete': {
      const [ref, argument] = [readField(params, 'ref'), readField(readField(params, 'argument'), 'name')];
      return typeof argument === 'string'
        ? findCompletion(features, {
            ref: { uri: readField(ref, 'uri'), name: readField(ref, 'name') },
            argument,
          })
        : undefined;
    }
    default:
      return undefined;
  }
}

/** Reads a field of an unvalidated value. */
export function readField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
