import { createHash } from 'node:crypto';
import { renderCardBody, escapeHtml } from '../http/render-card-body.ts';
import type { ShownCard } from '../../operations/agents/read-card.ts';

const style =
  'body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 sans-serif}pre{overflow:auto}.handle{color:#555}';

/** The page loads nothing, runs no script, sends no form and is not framed, whatever the card contains (CSP level 3). */
export const cardSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

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
    `<h1>${escapeHtml(display_name)}</h1>`,
    `<p class="handle">@${escapeHtml(handle)}</p>`,
    `<p>${escapeHtml(description)}</p>`,
    ...(skillItems.length > 0 ? [`<ul>${skillItems.join('')}</ul>`] : []),
    renderCardBody(card),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
