import { toVisibleLine } from '../../../shared/visible-text.ts';
import type { Approver } from '../../../operations/execute/context.ts';

/** A question to a person, as the operations hand it over. */
export type ApprovalQuestion = Parameters<Approver['ask']>[0];

const maxNameLength = 60;
const maxMessageLength = 500;

/** What would be a link, a tag or code where a client shows Markdown or HTML, by characters that look alike. */
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

/** What somebody else wrote, as a part of one of our sentences: in one line, without an effect on what is around it. */
function quoteText(text: string, longest: number): string {
  return toVisibleLine(text, longest).replaceAll(/[<>[\]`*|\\"]/g, (sign) => lookAlikes[sign] ?? sign);
}

/**
 * The question to a person, in words (MCP, Elicitation: message). Names and messages are others' words: they stand in quotes, cut,
 * without markup. The page of the approval shows them as they are.
 */
export function questionText({
  agent_handle,
  action,
  target,
  message,
  client_name,
}: ApprovalQuestion): string {
  const through =
    client_name === ''
      ? ''
      : `, through a program that calls itself "${quoteText(client_name, maxNameLength)}",`;
  const wish =
    action === 'request_contact'
      ? `wants to ask @${target} for contact`
      : `wants to remove @${target} from its contacts, on both sides`;
  const words = message === '' ? '.' : `, with the message: "${quoteText(message, maxMessageLength)}".`;
  return `Your agent @${agent_handle}${through} ${wish}${words}`;
}
