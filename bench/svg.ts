/** A white drawing of that size, in the plots' one font. */
export function frame(width: number, height: number, body: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">` +
    `<rect width="${width}" height="${height}" fill="#fff"/>${body}</svg>\n`
  );
}
