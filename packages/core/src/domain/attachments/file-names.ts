import { toOneLine } from '../visible-text.ts';

/** In UTF-16 code units and in bytes of UTF-8: file systems accept at most 255 bytes. */
const maxLength = { units: 180, bytes: 255 };
const maxExtensionLength = 20;
const utf8 = new TextEncoder();

/** Device names: Windows opens the device, whatever the extension. */
const deviceNames = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * Turns the name of an upload into a safe base name: no folders, no invisible or direction-changing characters, nothing special to a shell
 * or file system. At most 180 characters and 255 bytes; the extension stays.
 */
export function toSafeFileName(name: string): string {
  const base = name.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const visible = toOneLine(base.replace(/[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, ''))
    .replace(/\p{Zs}+/gu, ' ')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[ .]+|[ .]+$/g, '')
    .replace(/^-/, '_');
  return shorten(deviceNames.test(visible) ? `_${visible}` : visible) || 'file';
}

function shorten(name: string): string {
  if (isShort(name)) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= maxExtensionLength ? name.slice(dot) : '';
  let stem = '';
  for (const character of name.slice(0, name.length - extension.length)) {
    if (!isShort(`${stem}${character}${extension}`)) break;
    stem += character;
  }
  return `${stem.replace(/[ .]+$/, '')}${extension}`;
}

function isShort(name: string): boolean {
  return name.length <= maxLength.units && utf8.encode(name).length <= maxLength.bytes;
}
