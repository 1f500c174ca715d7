// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/meshes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Shape shape_new(int64_t vertices, int64_t triangles)
{
    return (Shape){malloc((size_t)(3 * vertices + 1) * sizeof(float)),
                   malloc((size_t)(3 * triangles + 1) * sizeof(int32_t)), vertices, triangles};
}

void shape_free(Shape *shape)
{
    free(shape->positions);
    free(shape->triangles);
    *shape = (Shape){0};
}

GrainMesh shape_mesh(const Shape *s)
{
    return (GrainMesh){s->positions, s->triangles, s->vertex_count, s->triangle_count};
}

static void set_vertex(Shape *s, int64_t vertex, double x, double y, double z)
{
    s->positions[3 * vertex] = (float)x, s->positions[3 * vertex + 1] = (float)y,
                     s->positions[3 * vertex + 2] = (float)z;
}

static void set_triangle(Shape *s, int64_t triangle, int64_t a, int64_t b, int64_t c)
{
    s->triangles[3 * triangle] = (int32_t)a, s->triangles[3 * triangle + 1] = (int32_t)b;
    s->triangles[3 * triangle + 2] = (int32_t)c;
}

static double signed_volume(const Shape *s)
{
    double sum = 0.0;
    for (int64_t i = 0; i < s->triangle_count; i++) {
        double p[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) p[c][k] = (double)s->positions[3 * s->triangles[3 * i + c] + k];
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) + p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6.0;
}

static Shape outward(Shape s)
{
    if (signed_volume(&s) < 0.0) shape_turn_inside_out(&s);
    return s;
}

Shape shape_box(float x0, float y0, float z0, float x1, float y1, float z1)
{
    static const int32_t triangles[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                        2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    Shape s = shape_new(8, 12);
    for (int i = 0; i < 8; i++)
        set_vertex(&s, i, (double)(i & 1 ? x1 : x0), (double)(i & 2 ? y1 : y0), (double)(i & 4 ? z1 : z0));
    memcpy(s.triangles, triangles, sizeof triangles);
    return s;
}

Shape shape_tetrahedron(void)
{
    Shape s = shape_new(4, 4);
    set_vertex(&s, 0, 0, 0, 0), set_vertex(&s, 1, 1, 0, 0), set_vertex(&s, 2, 0, 1, 0), set_vertex(&s, 3, 0, 0, 1);
    set_triangle(&s, 0, 0, 2, 1), set_triangle(&s, 1, 0, 1, 3), set_triangle(&s, 2, 0, 3, 2),
        set_triangle(&s, 3, 1, 2, 3);
    return s;
}

// --- the sphere: vertices made face by face, those on the icosahedron's edges shared -----------------

static const double golden = 1.6180339887498949;

static void bump(double *p, double height)
{
    double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    double x = p[0] / length, y = p[1] / length, z = p[2] / length;
    double r = 1.0 + height * (sin(7 * x + 1) * sin(6 * y + 2) * sin(8 * z + 3) +
                               0.35 * sin(19 * x) * sin(23 * y + 1) * sin(17 * z + 2));
    p[0] = x * r, p[1] = y * r, p[2] = z * r;
}

typedef struct Ico {
    int n;
    double (*place)[3];
    int64_t count;
    int64_t edge[12][12]; // first of the n - 1 vertices between two corners, or -1
} Ico;

static int64_t edge_vertex(Ico *ico, int from, int to, int step)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    if (ico->edge[low][high] < 0) {
        ico->edge[low][high] = ico->count;
        for (int i = 1; i < ico->n; i++, ico->count++)
            for (int k = 0; k < 3; k++)
                ico->place[ico->count][k] =
                    ico->place[low][k] + (ico->place[high][k] - ico->place[low][k]) * i / ico->n;
    }
    return ico->edge[low][high] + (from < to ? step : ico->n - step) - 1;
}

// Vertex i steps along a-b and j steps towards c.
static int64_t face_vertex(Ico *ico, const int f[3], int i, int j)
{
    int n = ico->n;
    if (i == 0) return f[0];
    if (i == n && j == 0) return f[1];
    if (i == n && j == n) return f[2];
    if (j == 0) return edge_vertex(ico, f[0], f[1], i);
    if (j == i) return edge_vertex(ico, f[0], f[2], i);
    if (i == n) return edge_vertex(ico, f[1], f[2], j);
    for (int k = 0; k < 3; k++)
        ico->place[ico->count][k] = ico->place[f[0]][k] + (ico->place[f[1]][k] - ico->place[f[0]][k]) * i / n +
                                    (ico->place[f[2]][k] - ico->place[f[1]][k]) * j / n;
    return ico->count++;
}

Shape shape_sphere(int n, double bumps)
{
    const double base[12][3] = {{-1, golden, 0}, {1, golden, 0}, {-1, -golden, 0}, {1, -golden, 0},
                                {0, -1, golden}, {0, 1, golden}, {0, -1, -golden}, {0, 1, -golden},
                                {golden, 0, -1}, {golden, 0, 1}, {-golden, 0, -1}, {-golden, 0, 1}};
    static const int faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                     {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                     {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                     {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    int64_t vertices = 12 + 30 * (int64_t)(n - 1) + 10 * (int64_t)(n - 1) * (n - 2);
    Shape s = shape_new(vertices, 20 * (int64_t)n * n);
    Ico ico = {.n = n, .place = malloc((size_t)vertices * sizeof *ico.place), .count = 12};
    memcpy(ico.place, base, sizeof base);
    memset(ico.edge, -1, sizeof ico.edge);
    int64_t *row = malloc((size_t)(n + 2) * sizeof *row), *next = malloc((size_t)(n + 2) * sizeof *next), triangle = 0;
    for (int f = 0; f < 20; f++) {
        row[0] = face_vertex(&ico, faces[f], 0, 0);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i + 1; j++) next[j] = face_vertex(&ico, faces[f], i + 1, j);
            for (int j = 0; j <= i; j++) {
                set_triangle(&s, triangle++, row[j], next[j], next[j + 1]);
                if (j < i) set_triangle(&s, triangle++, row[j], next[j + 1], row[j + 1]);
            }
            int64_t *swap = row;
            row = next, next = swap;
        }
    }
    for (int64_t v = 0; v < vertices; v++) {
        bump(ico.place[v], bumps);
        set_vertex(&s, v, ico.place[v][0], ico.place[v][1], ico.place[v][2]);
    }
    free(ico.place), free(row), free(next);
    return outward(s);
}

// --- tubes ----------------------------------------------------------------------------------------

// A closed tube of around x along vertices, already placed.
static void connect_tube(Shape *s, int64_t along, int64_t around)
{
    int64_t triangle = 0;
    for (int64_t u = 0; u < along; u++)
        for (int64_t w = 0; w < around; w++) {
            int64_t a = u * around + w, b = (u + 1) % along * around + w;
            int64_t c = (u + 1) % along * around + (w + 1) % around, d = u * around + (w + 1) % around;
            set_triangle(s, triangle++, a, b, c);
            set_triangle(s, triangle++, a, c, d);
        }
}

Shape shape_torus(int around, int along, double r)
{
    Shape s = shape_new((int64_t)around * along, 2 * (int64_t)around * along);
    for (int u = 0; u < along; u++)
        for (int w = 0; w < around; w++) {
            double t = 2 * M_PI * u / along, p = 2 * M_PI * w / around, ring = 1.0 + r * cos(p);
            set_vertex(&s, (int64_t)u * around + w, ring * cos(t), ring * sin(t), r * sin(p));
        }
    connect_tube(&s, along, around);
    return outward(s);
}

static void knot_place(double t, double *p)
{
    double r = 2 + cos(3 * t);
    p[0] = 0.4 * r * cos(2 * t), p[1] = 0.4 * r * sin(2 * t), p[2] = -0.4 * sin(3 * t);
}

static void make_unit(double *v)
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) v[k] /= length;
}

Shape shape_torus_knot(int64_t triangles)
{
    const double tube = 0.22, curve_length = 10.8, bumps = 0.06, step = 1e-4;
    double ratio = curve_length / (2 * M_PI * tube);
    int64_t around = (int64_t)sqrt((double)triangles / 2.0 / ratio);
    int64_t along = (int64_t)((double)around * ratio);
    Shape s = shape_new(along * around, 2 * along * around);
    for (int64_t u = 0; u < along; u++) {
        double t = 2 * M_PI * (double)u / (double)along, c[3], before[3], after[3], tangent[3], out[3], side[3];
        knot_place(t, c), knot_place(t - step, before), knot_place(t + step, after);
        for (int k = 0; k < 3; k++) tangent[k] = after[k] - before[k];
        make_unit(tangent);
        // Away from the torus' core circle, across the curve: smooth and periodic.
        double ring = sqrt(c[0] * c[0] + c[1] * c[1]);
        double from_core[3] = {c[0] - 0.8 * c[0] / ring, c[1] - 0.8 * c[1] / ring, c[2]};
        double lean = from_core[0] * tangent[0] + from_core[1] * tangent[1] + from_core[2] * tangent[2];
        for (int k = 0; k < 3; k++) out[k] = from_core[k] - lean * tangent[k];
        make_unit(out);
        for (int k = 0; k < 3; k++)
            side[k] = tangent[(k + 1) % 3] * out[(k + 2) % 3] - tangent[(k + 2) % 3] * out[(k + 1) % 3];
        for (int64_t w = 0; w < around; w++) {
            double p = 2 * M_PI * (double)w / (double)around;
            double r = tube * (1 + bumps * sin(12 * t) * sin(4 * p) + 0.4 * bumps * sin(41 * t) * sin(11 * p));
            set_vertex(&s, u * around + w, c[0] + r * (cos(p) * out[0] + sin(p) * side[0]),
                       c[1] + r * (cos(p) * out[1] + sin(p) * side[1]),
                       c[2] + r * (cos(p) * out[2] + sin(p) * side[2]));
        }
    }
    connect_tube(&s, along, around);
    return outward(s);
}

// --- the rest -------------------------------------------------------------------------------------

Shape shape_fins(int count, float thickness)
{
    Shape s = shape_box(-1.0f, -0.5f, -0.3f, 1.0f, 0.5f, -0.1f);
    for (int i = 0; i < count; i++) {
        float x = -0.9f + 1.8f * (float)i / (float)(count > 1 ? count - 1 : 1);
        s = shape_join(s, shape_box(x, -0.45f, 0.0f, x + thickness, 0.45f, 0.8f));
    }
    return s;
}

Shape shape_plane(int n)
{
    Shape s = shape_new((int64_t)(n + 1) * (n + 1), 2 * (int64_t)n * n);
    int64_t triangle = 0;
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++)
            set_vertex(&s, (int64_t)j * (n + 1) + i, -1.0 + 2.0 * i / n, -1.0 + 2.0 * j / n, 0.0);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int64_t a = (int64_t)j * (n + 1) + i;
            set_triangle(&s, triangle++, a, a + 1, a + n + 2);
            set_triangle(&s, triangle++, a, a + n + 2, a + n + 1);
        }
    return s;
}

Shape shape_bowl(int rings)
{
    int around = 4 * rings;
    Shape s = shape_new(1 + (int64_t)rings * around, (int64_t)around * (2 * rings - 1));
    int64_t triangle = 0;
    set_vertex(&s, 0, 0, 0, -1);
    for (int r = 1; r <= rings; r++)
        for (int w = 0; w < around; w++) {
            double down = 0.5 * M_PI * r / rings, turn = 2 * M_PI * w / around;
            set_vertex(&s, 1 + (int64_t)(r - 1) * around + w, sin(down) * cos(turn), sin(down) * sin(turn), -cos(down));
        }
    for (int w = 0; w < around; w++) set_triangle(&s, triangle++, 0, 1 + (w + 1) % around, 1 + w);
    for (int r = 0; r + 1 < rings; r++)
        for (int w = 0; w < around; w++) {
            int64_t a = 1 + (int64_t)r * around + w, b = 1 + (int64_t)r * around + (w + 1) % around;
            set_triangle(&s, triangle++, a, b, b + around);
            set_triangle(&s, triangle++, a, b + around, a + around);
        }
    return s;
}

Shape shape_bucket(void)
{
    Shape box = shape_box(-1, -1, -1, 1, 1, 1), s = shape_new(8, 10);
    memcpy(s.positions, box.positions, 24 * sizeof(float));
    int64_t kept = 0;
    for (int i = 0; i < 12; i++) {
        const int32_t *t = box.triangles + 3 * i;
        if (t[0] >= 4 && t[1] >= 4 && t[2] >= 4) continue; // the lid
        set_triangle(&s, kept++, t[0], t[1], t[2]);
    }
    shape_free(&box);
    return s;
}

Shape shape_moebius(int n)
{
    Shape s = shape_new(2 * (int64_t)n, 2 * (int64_t)n);
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            double t = 2 * M_PI * i / n, w = side ? 0.3 : -0.3, r = 1 + w * cos(0.5 * t);
            set_vertex(&s, 2 * (int64_t)i + side, r * cos(t), r * sin(t), w * sin(0.5 * t));
        }
    for (int i = 0; i < n; i++) {
        int64_t a = 2 * i, b = 2 * i + 1, c = 2 * (i + 1), d = 2 * (i + 1) + 1;
        if (i == n - 1) c = 1, d = 0; // half a twist
        set_triangle(&s, 2 * (int64_t)i, a, c, d);
        set_triangle(&s, 2 * (int64_t)i + 1, a, d, b);
    }
    return s;
}

Shape shape_join(Shape a, Shape b)
{
    Shape s = shape_new(a.vertex_count + b.vertex_count, a.triangle_count + b.triangle_count);
    memcpy(s.positions, a.positions, (size_t)(3 * a.vertex_count) * sizeof(float));
    memcpy(s.positions + 3 * a.vertex_count, b.positions, (size_t)(3 * b.vertex_count) * sizeof(float));
    memcpy(s.triangles, a.triangles, (size_t)(3 * a.triangle_count) * sizeof(int32_t));
    for (int64_t i = 0; i < 3 * b.triangle_count; i++)
        s.triangles[3 * a.triangle_count + i] = b.triangles[i] + (int32_t)a.vertex_count;
    shape_free(&a);
    shape_free(&b);
    return s;
}

void shape_move(Shape *s, float scale, float x, float y, float z)
{
    const float offset[3] = {x, y, z};
    for (int64_t i = 0; i < 3 * s->vertex_count; i++) s->positions[i] = s->positions[i] * scale + offset[i % 3];
}

void shape_turn_inside_out(Shape *s)
{
    for (int64_t i = 0; i < s->triangle_count; i++) {
        int32_t swap = s->triangles[3 * i + 1];
        s->triangles[3 * i + 1] = s->triangles[3 * i + 2];
        s->triangles[3 * i + 2] = swap;
    }
}

Shape shape_split(Shape from)
{
    Shape s = shape_new(3 * from.triangle_count, from.triangle_count);
    for (int64_t i = 0; i < 3 * from.triangle_count; i++) {
        memcpy(s.positions + 3 * i, from.positions + 3 * from.triangles[i], 3 * sizeof(float));
        s.triangles[i] = (int32_t)i;
    }
    shape_free(&from);
    return s;
}

Shape shape_load(const char *path)
{
    Shape s = {0};
    FILE *file = fopen(path, "r");
    if (!file) return s;
    char line[256];
    int64_t vertices = 0, triangles = 0;
    while (fgets(line, sizeof line, file)) vertices += line[0] == 'v' && line[1] == ' ', triangles += line[0] == 'f';
    rewind(file);
    s = shape_new(vertices, triangles);
    vertices = triangles = 0;
    while (fgets(line, sizeof line, file)) {
        double x, y, z;
        long a, b, c;
        if (sscanf(line, "v %lf %lf %lf", &x, &y, &z) == 3) set_vertex(&s, vertices++, x, y, z);
        if (sscanf(line, "f %ld %ld %ld", &a, &b, &c) == 3) set_triangle(&s, triangles++, a - 1, b - 1, c - 1);
    }
    fclose(file);
    return s;
}

double shape_area(const Shape *s)
{
    double sum = 0.0;
    for (int64_t i = 0; i < s->triangle_count; i++) {
        const float *a = s->positions + 3 * s->triangles[3 * i], *b = s->positions + 3 * s->triangles[3 * i + 1];
        const float *c = s->positions + 3 * s->triangles[3 * i + 2];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = (double)b[k] - (double)a[k], v[k] = (double)c[k] - (double)a[k];
        double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
        sum += 0.5 * sqrt(x * x + y * y + z * z);
    }
    return sum;
}
