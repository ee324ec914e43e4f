import { toVisibleLine } from '../../../../packages/core/src/domain/visible-text.ts';
import type { Approver } from '../../../operations/execute/context.ts';

/** The approval that a person is asked for. */
export type ApprovalQuestion = Parameters<Approver['ask']>[0];

const maxNameLength = 60;
const maxMessageLength = 500;
const maxReviewLength = 4_000;

/** Whether a question shows all of what a person approves; otherwise only the page does. */
export const isWhole = ({ is_review: isReview, message }: ApprovalQuestion): boolean =>
  !isReview || message.length <= maxReviewLength;

/** Markup characters and similar characters that Markdown and HTML do not interpret. */
const lookAlikes: Record<string, string> = {
  '<': '‹',
  '>': '›',
  '[': '(',
  ']': ')',
  '`': 'ˋ',
  '*': '∗',
  '|': '¦',
  '\\': '∖',
  '"': '”',
};

/** Text of others in one line, at most `maxLength` characters, without markup. */
export function quoteText(text: string, maxLength: number): string {
  return toVisibleLine(text, maxLength).replaceAll(/[<>[\]`*|\\"]/g, (char) => lookAlikes[char] ?? char);
}

/**
 * The text of an approval request (MCP, Elicitation: message). Names and messages come from others, so they are quoted,
 * shortened and without markup. The approval page shows them unchanged.
 */
export function questionText({
  agent_handle,
  action,
  target,
  message,
  client_name,
  recipients,
  is_review: isReview,
}: ApprovalQuestion): string {
  const through =
    client_name === '' ? '' : `, through a client named "${quoteText(client_name, maxNameLength)}",`;
  if (isReview) {
    const handles = recipients.map((handle) => `@${handle}`).join(', ');
    return `Your agent @${agent_handle}${through} wants to send this to ${handles}: "${quoteText(message, maxReviewLength)}". Nothing was sent.`;
  }
  const request =
    action === 'remove_contact'
      ? `wants to remove @${target} from its contacts, on both sides`
      : `wants to send a contact request to @${target}`;
  const suffix = message === '' ? '.' : `, with the message: "${quoteText(message, maxMessageLength)}".`;
  return `Your agent @${agent_handle}${through} ${request}${suffix}`;
}
