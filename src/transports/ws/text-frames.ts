/** The first byte of a text message in one frame: FIN and opcode 1. */
const finalText = 0x81;
/** Sizes from these on have two or eight bytes of their own behind the first one. */
const medium = 126;
const large = 0x10000;

/**
 * Whole text frames, unmasked and in a row (RFC 6455, section 5.2), in one buffer: that is one plain write, where ws makes
 * two pieces of each frame.
 */
export function encodeTextFrames(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const frames = Buffer.allocUnsafe(sizes.reduce((total, size) => total + headBytes(size) + size, 0));
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const size = sizes[index] ?? 0;
    at = writeHead(frames, at, size);
    at += frames.write(text, at, size);
  }
  return frames;
}

function headBytes(size: number): number {
  if (size < medium) return 2;
  return size < large ? 4 : 10;
}

/** @returns where the payload begins. */
function writeHead(frames: Buffer, at: number, size: number): number {
  frames.writeUInt8(finalText, at);
  if (size < medium) return frames.writeUInt8(size, at + 1);
  if (size < large) {
    frames.writeUInt8(126, at + 1);
    return frames.writeUInt16BE(size, at + 2);
  }
  frames.writeUInt8(127, at + 1);
  return frames.writeBigUInt64BE(BigInt(size), at + 2);
}
