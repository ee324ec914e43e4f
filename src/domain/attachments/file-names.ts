/** In UTF-16 units, and in bytes of UTF-8: file systems take no more than 255 bytes. */
const maxLength = { units: 180, bytes: 255 };
const maxExtensionLength = 20;

/** Names of devices, which Windows opens instead of a file, whatever their extension. */
const deviceNames = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * A safe base name out of whatever an uploader calls a file (contract, section 3): no folders, nothing that cannot be seen or turns
 * the direction of reading, nothing that a shell or a file system takes for something else; at most 180 characters and 255 bytes, and
 * the extension stays.
 */
export function toSafeFileName(given: string): string {
  const base = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const seen = base
    // Control, format (with the marks of direction), half and private characters, and separators of lines.
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, '')
    .replace(/\p{Zs}+/gu, ' ')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[ .]+|[ .]+$/g, '')
    .replace(/^-/, '_');
  return shorten(deviceNames.test(seen) ? `_${seen}` : seen) || 'file';
}

function shorten(name: string): string {
  if (fits(name)) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= maxExtensionLength ? name.slice(dot) : '';
  let stem = '';
  for (const character of name.slice(0, name.length - extension.length)) {
    if (!fits(`${stem}${character}${extension}`)) break;
    stem += character;
  }
  return `${stem.replace(/[ .]+$/, '')}${extension}`;
}

function fits(name: string): boolean {
  return name.length <= maxLength.units && Buffer.byteLength(name) <= maxLength.bytes;
}
