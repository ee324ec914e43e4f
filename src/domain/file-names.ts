/** In characters. */
const longest = 180;
const longestExtension = 20;

/** Names of devices, which Windows opens instead of a file, whatever their extension. */
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * A safe base name out of whatever an uploader calls a file (contract, section 3): no folders, nothing that cannot be seen or turns
 * the direction of reading, nothing that a shell or a file system takes for something else; at most 180 characters, and the
 * extension stays.
 */
export function safeFileName(given: string): string {
  const base = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const seen = base
    // Control, format (with the marks of direction), half and private characters, and separators of lines.
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, '')
    .replace(/\p{Zs}+/gu, ' ')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[ .]+|[ .]+$/g, '')
    .replace(/^-/, '_');
  return shortened(devices.test(seen) ? `_${seen}` : seen) || 'file';
}

function shortened(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= longest) return name;
  const dot = characters.lastIndexOf('.');
  const extension = dot > 0 && characters.length - dot <= longestExtension ? characters.slice(dot) : [];
  const stem = characters.slice(0, longest - extension.length).join('');
  return `${stem.replace(/[ .]+$/, '')}${extension.join('')}`;
}
