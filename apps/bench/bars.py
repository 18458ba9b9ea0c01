"""A chart of bars as SVG: what report.py and gpu_chart.py draw."""

import html


def bars(title, rows, most, step=1, left=330):
    """rows: (label, value, what to reach); bars end at `most`, a line stands at each `step`."""
    width, height = 460, 22
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" '
             f'height="{len(rows) * height + 50}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{left}" y="16">{html.escape(title)}</text>']
    for number in range(round(most / step) + 1):
        x = left + width * number * step / most
        parts.append(f'<path d="M{x:.1f} 24V{len(rows) * height + 28}" stroke="#ddd"/>'
                     f'<text x="{x:.1f}" y="{len(rows) * height + 44}" text-anchor="middle">'
                     f'{number * step:g}</text>')
    for line, (label, value, goal) in enumerate(rows):
        y = 28 + line * height
        length = width * min(value, most) / most
        colour = "#2a7f62" if round(value, 2) >= goal else "#c8553d"
        tick = left + width * min(goal, most) / most
        parts.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{html.escape(label)}</text>'
                     f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{height - 6}" '
                     f'fill="{colour}"/>'
                     f'<path d="M{tick:.1f} {y - 2}v{height - 2}" stroke="black" stroke-width="2"/>'
                     f'<text x="{left + length + 5:.1f}" y="{y + 13}">{value:.2f}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"
