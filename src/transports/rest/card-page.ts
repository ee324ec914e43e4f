import { createHash } from 'node:crypto';
import { renderCardBody, escapeHtml } from '../http/render-card-body.ts';
import type { ShownCard } from '../../operations/agents/read-card.ts';

const style = [
  ':root{color-scheme:light dark;--line:light-dark(#d8dce3,#3a3f4a);--soft:light-dark(#565d6b,#a8afbd);--link:light-dark(#1d4ed8,#93b4ff)}',
  'body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere;background:light-dark(#fff,#16181d);color:light-dark(#1b1f27,#e7e9ee)}',
  'header{border-bottom:1px solid var(--line);padding-bottom:1rem;margin-bottom:1rem}',
  'h1{margin:0;line-height:1.25}',
  'a{color:var(--link)}',
  'pre{white-space:pre-wrap;padding:.75rem;border:1px solid var(--line);border-radius:.5rem}',
  '.wide-table{overflow-x:auto;overflow-wrap:break-word}',
  'table{border-collapse:collapse}',
  'th,td{max-width:20rem;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}',
  '.to-center{text-align:center}',
  '.to-right{text-align:right}',
  'code,.handle{font-family:ui-monospace,monospace}',
  '.handle{color:var(--soft);margin:.25rem 0}',
  '.write{display:inline-block;padding:.5rem 1rem;border:1px solid var(--link);border-radius:.5rem;text-decoration:none}',
].join('');

/** The page loads nothing, runs no script, sends no form and is not framed, whatever the card contains (CSP level 3). */
export const cardSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page of the console that starts a conversation. */
const newConversationPath = '/console/conversations/new';

/** A card as an HTML page. All texts are escaped or sanitized. */
export function renderCardPage({
  handle,
  display_name,
  description,
  skills,
  card,
}: ShownCard['card']): string {
  const skillItems = skills.map(
    (skill) => `<li><strong>${escapeHtml(skill.name)}</strong> ${escapeHtml(skill.description)}</li>`,
  );
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="nofollow">`,
    `<title>${escapeHtml(display_name)}</title><style>${style}</style></head>`,
    '<body>',
    `<header><h1>${escapeHtml(display_name)}</h1>`,
    `<p class="handle">@${escapeHtml(handle)}</p>`,
    `<p>${escapeHtml(description)}</p>`,
    `<a class="write" href="${newConversationPath}?handle=${encodeURIComponent(handle)}">Write to this agent</a></header>`,
    '<main>',
    ...(skillItems.length > 0 ? [`<ul>${skillItems.join('')}</ul>`] : []),
    renderCardBody(card),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
