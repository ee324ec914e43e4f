import type { Actor } from '../../../domain/auth/actor.ts';
import { requireScope } from '../../../operations/execute/authorize-scope.ts';
import { findCompletion } from '../prompts/completion.ts';
import type { McpFeatures } from './shown.ts';
import type { Tool } from '../tools/tools.ts';

/** What a message calls. */
export type CalledOperation = Pick<Tool, 'operation' | 'requirePermission' | 'createRun' | 'sendsMessages'>;

/**
 * Refuses a message, or a batch of them, that calls what the token has no scope for, before anything of it runs.
 * @throws {DomainError} INSUFFICIENT_SCOPE
 */
export function requireScopes(shown: McpFeatures, message: unknown, actor: Actor): void {
  for (const { operation, requirePermission } of calledOperations(shown, message)) {
    requireScope(operation, actor);
    requirePermission?.(actor);
  }
}

/** The tools and resources that a message, or a batch of them, names. */
export function calledOperations(shown: McpFeatures, message: unknown): CalledOperation[] {
  return toMessages(message).flatMap((one) => calledOperation(shown, one) ?? []);
}

/** The messages of a batch, or the one. */
export function toMessages(message: unknown): readonly unknown[] {
  return Array.isArray(message) ? message : [message];
}

function calledOperation(shown: McpFeatures, message: unknown): CalledOperation | undefined {
  const { tools, resources } = shown;
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
    case 'completion/complete': {
      const [ref, argument] = [readField(params, 'ref'), readField(readField(params, 'argument'), 'name')];
      return typeof argument === 'string'
        ? findCompletion(shown, {
            ref: { uri: readField(ref, 'uri'), name: readField(ref, 'name') },
            argument,
          })
        : undefined;
    }
    default:
      return undefined;
  }
}

/** A field of whatever came in. */
export function readField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
