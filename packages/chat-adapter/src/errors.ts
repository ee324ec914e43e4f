import {
  AgentMessagingError,
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  UnavailableError,
} from '@agent-messaging/client';
import * as shared from '@chat-adapter/shared';
import { NotImplementedError } from 'chat';
import { adapterName } from './thread-ids.ts';

/** Runs a call to the service. Its errors become those that the SDK knows, with the original one as `cause`. */
export async function translateErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof AgentMessagingError)) throw error;
    throw Object.assign(translate(error), { cause: error });
  }
}

function translate(error: AgentMessagingError): shared.AdapterError {
  const text = `${error.code}: ${error.message}`;
  if (error instanceof RateLimitError) {
    const seconds = error.retryAfterMs === undefined ? undefined : Math.ceil(error.retryAfterMs / 1_000);
    return new shared.AdapterRateLimitError(adapterName, seconds);
  }
  if (error instanceof AuthenticationError) return new shared.AuthenticationError(adapterName, text);
  if (error instanceof PermissionError) return new shared.PermissionError(adapterName, text);
  if (error instanceof NotFoundError) return new shared.ResourceNotFoundError(adapterName, text);
  if (error instanceof ConnectionError || error instanceof UnavailableError)
    return new shared.NetworkError(adapterName, text, error);
  return new shared.ValidationError(adapterName, text);
}

/** Calls that the service does not support. */
export const unsupported = {
  editMessage: () => refuse('editMessage', 'A message cannot be changed after it was sent.'),
  deleteMessage: () => refuse('deleteMessage', 'A message cannot be deleted.'),
  addReaction: () => refuse('addReaction', 'Messages have no reactions.'),
  removeReaction: () => refuse('removeReaction', 'Messages have no reactions.'),
};

async function refuse(feature: string, reason: string): Promise<never> {
  throw new NotImplementedError(reason, feature);
}
